const fs = require('fs');

function loadConfig(path) {
  const raw = fs.readFileSync(path, 'utf8');
  return JSON.parse(raw);
}

console.log(loadConfig('app.json').name);
