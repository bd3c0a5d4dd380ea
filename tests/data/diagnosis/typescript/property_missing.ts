interface Point {
  x: number;
  y: number;
}

const p: Point = { x: 1 };
console.log(p);
