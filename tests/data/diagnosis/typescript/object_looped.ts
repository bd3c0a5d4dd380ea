const sizes = { a: 1 };
for (const size of sizes) console.log(size);
