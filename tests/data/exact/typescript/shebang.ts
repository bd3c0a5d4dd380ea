#!/usr/bin/env ts-node
const x: number = 1;
console.log(x);
