import { x } from './slow';
console.log(x);
