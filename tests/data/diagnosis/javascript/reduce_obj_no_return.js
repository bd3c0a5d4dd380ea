const words = ["a", "b", "a"];
const counts = words.reduce((acc, w) => {
  acc[w] = (acc[w] || 0) + 1;
}, {});
console.log(counts);
