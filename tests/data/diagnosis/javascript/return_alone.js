function settings() {
  return
  {
    port: 80
  };
}

console.log(settings().port);
