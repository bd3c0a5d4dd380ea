const words = ["one", "two"];
const lengths = words.map((w) => {
  w.length;
});
console.log(lengths[0].toString());
