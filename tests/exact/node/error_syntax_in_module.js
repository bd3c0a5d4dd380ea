require('./bad.js');
