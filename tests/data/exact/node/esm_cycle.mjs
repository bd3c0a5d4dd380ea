import { b } from './b.mjs';
export const a = 'a';
console.log('main', b());
