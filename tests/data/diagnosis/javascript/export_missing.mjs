import { avarage } from "./maths.mjs";

console.log(avarage([1, 2]));
