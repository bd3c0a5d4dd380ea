function volume(a: number, b: number): number {
  return a * b;
}
function sides(): number[] {
  return [2, 3];
}
const s = sides();
console.log(volume(...s));
