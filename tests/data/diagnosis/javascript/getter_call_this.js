class Circle {
  constructor(r) {
    this.r = r;
  }
  get area() {
    return 3 * this.r ** 2;
  }
  describe() {
    return "area " + this.area();
  }
}
console.log(new Circle(2).describe());
