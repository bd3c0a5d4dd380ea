const count: number = "three";
console.log(count);
