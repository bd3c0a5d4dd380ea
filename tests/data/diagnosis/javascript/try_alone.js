try {
  JSON.parse("{}");
}
console.log("done");
