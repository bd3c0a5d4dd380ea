function greet(name) {
  console.log(name);
}

setTimeout(greet("Ana"), 5);
