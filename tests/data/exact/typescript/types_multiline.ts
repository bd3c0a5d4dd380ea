function many(
  a: number,
  b: {
    x: number;
    y: string;
  },
): {
  sum: number;
} {
  return { sum: a + b.x };
}
const g = (
  a: number,
): { v: number } => ({ v: a });
console.log(many(1, { x: 2, y: '' }), g(
  1 as
    number,
));
