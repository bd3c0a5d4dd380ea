const data: unknown = JSON.parse("{}");
const name: string = data;
console.log(name);
