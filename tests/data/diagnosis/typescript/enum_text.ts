enum Role { Admin = "ADMIN", User = "USER" }
const r: Role = "ADMIN";
console.log(r);
