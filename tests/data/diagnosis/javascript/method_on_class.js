class Counter {
  add(n) {
    this.n = n;
  }
}
Counter.add(3);
