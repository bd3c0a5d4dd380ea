exports.greet = (name) => console.log("Hello " + name);
