const fs = require('fs');
fs.readFile('/nope', (e) => console.log(e.code));
fs.writeFile('x', 'data', () => fs.createReadStream('x').on('data', (d) => console.log(String(d))).on('close', () => fs.unlink('x', (e) => console.log(e))));
fs.promises.access('/sandbox').then(() => console.log('ok'));
