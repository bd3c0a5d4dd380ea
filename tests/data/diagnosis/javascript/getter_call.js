class Temperature {
  constructor(c) { this.celsius = c; }
  get fahrenheit() { return this.celsius * 9 / 5 + 32; }
}
const t = new Temperature(20);
console.log(t.fahrenheit());
