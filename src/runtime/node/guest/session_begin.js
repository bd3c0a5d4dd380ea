// The main file of a JavaScript or TypeScript session. session.js is loaded before it (-r), by a
// zygote if there is one.
'use strict';
require('./session.js').begin();
