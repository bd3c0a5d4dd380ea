import { inc } from './lib.js';
import { inc as inc2 } from './lib.ts';
console.log(inc(), inc2(), inc === inc2);
