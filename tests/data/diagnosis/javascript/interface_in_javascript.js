interface User {
  name: string;
}
