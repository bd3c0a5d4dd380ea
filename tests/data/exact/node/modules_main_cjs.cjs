console.log(__filename, typeof require, module.id);
