const vm = require('vm');
const c = vm.createContext({ x: 2, console });
console.log(vm.runInContext('x * 21; ', c), vm.runInNewContext('typeof process'), vm.runInThisContext('typeof require'), vm.isContext(c));
try { vm.runInNewContext('while (true);', {}, { timeout: 20 }); } catch (e) { console.log(e.code, e.message); }
try { new vm.Script('bad bad', { filename: 'mine.js' }); } catch (e) { console.log(e.stack.split('\n').slice(0, 5).join('\n')); }
console.log(vm.runInContext('Math.random() < 1 && [] instanceof Array', c), vm.runInContext('[]', c) instanceof Array);
