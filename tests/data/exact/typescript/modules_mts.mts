import { basename } from 'path';
console.log(basename(import.meta.url), await Promise.resolve(1));
export {};
