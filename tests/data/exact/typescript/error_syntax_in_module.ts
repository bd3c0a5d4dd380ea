console.log('not reached');
import { x } from './bad';
console.log(x);
