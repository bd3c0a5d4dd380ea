import { readFile } from 'fs/promises';
const text: string = await readFile(__filename, 'utf8');
console.log(text.length, this);
export {};
