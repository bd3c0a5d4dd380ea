class Shape {
  static unit() {
    return new Shape();
  }
}
const other = new Shape().unit();
