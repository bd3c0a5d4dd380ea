function connect(config) {
  return config.host + ":" + config.port;
}

console.log(connect());
