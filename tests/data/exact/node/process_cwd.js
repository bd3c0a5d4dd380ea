console.log(process.cwd());
process.chdir('/');
console.log(process.cwd(), require('path').resolve('x'));
process.chdir('/sandbox');
console.log(process.cwd());
try { process.chdir('/nonexistent'); } catch (e) { console.log(e.message, e.code); }
