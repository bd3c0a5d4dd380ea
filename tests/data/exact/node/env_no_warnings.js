process.emitWarning('not shown');
console.log('end');
