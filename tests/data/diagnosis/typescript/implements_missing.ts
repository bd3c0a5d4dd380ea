interface Shape {
  area(): number;
  name(): string;
}

class Square implements Shape {
  constructor(private side: number) {}
  area(): number {
    return this.side ** 2;
  }
}

console.log(new Square(2).area());
