interface Town { name: string }
const town: Town = { name: "Ulm", size: 126 };
console.log(town);
