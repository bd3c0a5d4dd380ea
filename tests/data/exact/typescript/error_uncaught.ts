interface A { a?: { b: number } }
function deep(x: A): number {
  return (x.a as { b: number }).b;
}
console.log('before');
deep({} as A);
