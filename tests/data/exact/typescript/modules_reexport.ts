import { inc, renamed } from './all';
console.log(inc(), renamed);
