abstract class Shape {
  static count = 0;
  protected readonly id: number = ++Shape.count;
  abstract area(): number;
  abstract readonly kind: string;
  describe(): string { return `${this.kind} ${this.id} ${this.area().toFixed(2)}`; }
}
class Circle extends Shape implements Iterable<number> {
  declare hidden: string;
  readonly kind = 'circle';
  #secret?: number = 3;
  private static readonly PI: number = Math.PI;
  constructor(private r: number) {
    super();
  }
  override area(): number { return Circle.PI * this.r ** 2; }
  *[Symbol.iterator](): Iterator<number> { yield this.r; yield this.#secret!; }
  get radius(): number { return this.r; }
  set radius(v: number) { this.r = v; }
}
const c = new Circle(2);
c.radius = 3;
console.log(c.describe(), [...c], c, Object.keys(c));
