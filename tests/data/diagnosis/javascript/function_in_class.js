class Point {
  function move() {
    return this;
  }
}
