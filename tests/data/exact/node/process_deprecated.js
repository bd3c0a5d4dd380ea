new Buffer(1);
require('util').isArray([]);
console.log(require('url').parse('http://a:xyz/').host);
