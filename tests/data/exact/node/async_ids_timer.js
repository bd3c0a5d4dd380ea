const t = setTimeout(() => {}, 1);
console.log(+t, +setTimeout(() => {}, 1));
