console.log(require('util').debuglog('mine').enabled);
require('util').debuglog('mine')('hello %d', 1);
