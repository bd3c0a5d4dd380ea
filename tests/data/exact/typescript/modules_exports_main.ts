export const a = 1;
export default class X {}
export { a as b };
console.log(Object.keys(module.exports).sort());
