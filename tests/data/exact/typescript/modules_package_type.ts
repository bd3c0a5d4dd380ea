import { inc } from './lib.js';
console.log(inc(), typeof require);
