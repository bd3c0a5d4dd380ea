const fs = require('fs');

function readConfig(path) {
  if (!fs.existsSync(path)) {
    return {};
  const text = fs.readFileSync(path, 'utf8');
  return JSON.parse(text);
}

function main() {
  console.log(readConfig('config.json'));
}

main();
