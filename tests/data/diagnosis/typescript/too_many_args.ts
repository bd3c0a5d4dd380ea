function clamp(value: number, min: number, max: number): number {
  return Math.min(Math.max(value, min), max);
}

const readings = [1, 50, 200];
console.log(readings.map((r) => clamp(r, 0)));
