const a = require('./a'), j = require('./data.json'), d = require('./dir'), p = require('pkg'), s = require('pkg/sub');
console.log(a, j, d, p, s, require.resolve('pkg'), Object.keys(require.cache), module.children.map((c) => c.id));
console.log(require('./a') === a, require.resolve.paths('x'));
delete require.cache[require.resolve('./a')];
console.log(require('./a') === a);
