// What a zygote loads and runs once, see register.js.
const x: string = 'a' as string;
module.exports = x;
