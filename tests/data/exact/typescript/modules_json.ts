import data from './data.json';
const other = require('./data.json') as { a: number };
console.log(data.a, other.a);
