const defaults = { host: 'localhost', port: 8080 };
const settings = Object.assign({}, defaults, { port: 9090 });

settings.forEach((value) => {
  console.log(`setting: ${value}`);
});
