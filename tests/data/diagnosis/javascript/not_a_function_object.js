const ages = { ada: 36, bob: 25 };
console.log(ages.map((a) => a + 1));
