const x: number = 1;
interface A {
  a: 1;
}
console.log(x as number);
null!.x;
