class Circle {
  get area() {
    return 3;
  }
}
console.log(new Circle().area());
