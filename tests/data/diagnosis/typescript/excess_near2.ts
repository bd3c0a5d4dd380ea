interface User { firstName: string; lastName: string }
const u: User = { firstname: "a", lastName: "b" };
console.log(u);
