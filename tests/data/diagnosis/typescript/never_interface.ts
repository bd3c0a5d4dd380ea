interface Circle { kind: "circle"; r: number }
interface Square { kind: "square"; s: number }
interface Tri { kind: "tri"; b: number; h: number }
type Shape = Circle | Square | Tri;
function area(s: Shape): number {
  switch (s.kind) {
    case "circle": return 3 * s.r;
    case "square": return s.s;
    default:
      const _exhaustive: never = s;
      return _exhaustive;
  }
}
console.log(area({ kind: "square", s: 1 }));
