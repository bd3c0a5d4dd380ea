const counts = {};
for (const w of ["a", "b"]) counts[w] = (counts[w] || 0) + 1;
console.log(counts);
