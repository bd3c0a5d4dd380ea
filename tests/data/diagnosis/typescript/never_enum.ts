enum Dir { Up, Down, Left }
function step(d: Dir): number {
  switch (d) {
    case Dir.Up: return 1;
    case Dir.Down: return -1;
    default:
      const x: never = d;
      return x;
  }
}
console.log(step(Dir.Up));
