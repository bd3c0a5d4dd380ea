interface Shape {
  kind: 'circle' | 'square';
  size: number;
}

const shapes: Shape[] = [{ kind: 'circle', size: 2 }];

for (const s of shapes) {
  console.log(s.area());
}
