import { fail } from './f';
console.log(1);
fail(2);
