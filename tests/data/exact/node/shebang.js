#!/usr/bin/env node
console.log('after the shebang', new Error('x').stack.split('\n')[1]);
