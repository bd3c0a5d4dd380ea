require('./bad.json');
