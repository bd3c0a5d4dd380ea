const total = 0;
total = 5;
console.log(total);
