interface Opts { color?: string; width?: number }
function draw(o: Opts) { return o.width; }
console.log(draw({ colour: "red", width: 3 }));
