// A zygote loads and runs this file once; see register.js.
const x: string = 'a' as string;
module.exports = x;
