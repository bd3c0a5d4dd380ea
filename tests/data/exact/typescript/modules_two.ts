import { counter, inc, name, type Shape } from './lib';
const s: Shape = { x: inc() };
inc(5);
console.log(counter, name, s);
