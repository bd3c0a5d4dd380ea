require('./lib/a.js');
