const M = require('module');
console.log(M.builtinModules.length, M.isBuiltin('node:fs'), Object.keys(M), M.globalPaths, M._extensions, Object.keys(M._cache), Object.keys(M._pathCache), M.runMain.name, Object.getOwnPropertyDescriptor(M, 'runMain'), Object.getOwnPropertyNames(Function.prototype));
