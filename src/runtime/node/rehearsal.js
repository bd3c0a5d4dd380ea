// What driver.js goes through before it serves. It seems to be in a folder node_modules, for which Node looks for no
// package.json: what it had looked for once, it would not look for again.
'use strict';
module.exports = (console) => {
  console.log('one line', 1, true, null, [1, 'two'], { three: 3 });
  console.error(new Error('rehearsal').stack);
};
