class Cart {
  constructor() {
    this.prices = [3, 4];
  }
  total() {
    return this.prices.reduce((a, b) => a + b, 0);
  }
}
const cart = new Cart();
console.log(cart.total.toFixed(2));
