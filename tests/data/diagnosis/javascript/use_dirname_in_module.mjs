import { join } from "node:path";
console.log(join(__dirname, "a"));
