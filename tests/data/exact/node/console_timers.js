console.timeEnd('none'); console.timeLog('none'); console.time('a'); console.time('a');
console.log(Object.keys(console));
