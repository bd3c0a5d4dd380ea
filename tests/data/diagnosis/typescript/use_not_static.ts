class Circle {
  area(r: number): number {
    return 3 * r * r;
  }
}
console.log(Circle.area(2));
