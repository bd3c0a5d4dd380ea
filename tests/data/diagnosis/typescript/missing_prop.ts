interface Item {
  name: string;
  price: number;
}

class Cart {
  private items: Item[] = [];
  add(item: Item) {
    this.items.push(item);
  }
}

const cart = new Cart();
cart.add({ name: 'tea', price: 2 });
const gift: Item = { name: 'mug' };
cart.add(gift);
