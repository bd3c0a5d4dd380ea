import { plain } from './old';
import whole from './old.js';
console.log(plain(), Object.keys(whole));
