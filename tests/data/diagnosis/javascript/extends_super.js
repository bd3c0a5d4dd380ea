class Shape {
  constructor(name) {
    this.name = name;
  }
}

class Circle extends Shape {
  constructor(r) {
    this.r = r;
  }
}

console.log(new Circle(2).name);
