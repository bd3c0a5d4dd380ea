interface User {
  username: string;
  age: number;
}

const user: User = { username: "ada", age: 36 };
console.log(user.usrname);
