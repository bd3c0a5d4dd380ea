require('./a.js');
