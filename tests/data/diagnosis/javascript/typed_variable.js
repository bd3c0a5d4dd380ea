const total: number = 5;
console.log(total);
