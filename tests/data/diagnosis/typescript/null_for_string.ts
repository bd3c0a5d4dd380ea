const name: string = null;
console.log(name);
