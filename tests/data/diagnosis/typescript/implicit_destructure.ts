function area({ w, h }) { return w * h; }
console.log(area({ w: 1, h: 2 }));
