const settings = {
  host: 'localhost',
  port: 8080
  debug: true,
};

function show(s) {
  return Object.entries(s).map(([k, v]) => `${k}=${v}`).join('\n');
}

console.log(show(settings));
