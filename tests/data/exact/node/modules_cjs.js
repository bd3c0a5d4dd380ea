console.log(__filename, __dirname, require.main === module, module.id, module.path, module.paths, module.filename, module.loaded, module.parent, module.children, Object.keys(require), Object.keys(require.cache), typeof exports, this === module.exports, arguments.length);
console.log(module);
