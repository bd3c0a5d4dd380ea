// The module that driver.js loads for the warm-up. Its path is inside a folder node_modules,
// because Node looks for no package.json there. Node would cache the result of that search.
'use strict';
module.exports = (console) => {
  console.log('one line', 1, true, null, [1, 'two'], { three: 3 });
  console.error(new Error('warmup').stack);
};
