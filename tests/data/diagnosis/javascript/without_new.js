class Box {
  constructor(size) {
    this.size = size;
  }
}

const b = Box(3);
console.log(b.size);
