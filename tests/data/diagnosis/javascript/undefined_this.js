class Counter {
  constructor() {
    this.n = 0;
  }

  step() {
    this.n += 1;
  }
}

const { step } = new Counter();
step();
