class Registry {
  constructor() {
    this.items = new Map();
  }
  add(id, item) {
    this.items.set(id, item);
  }
  describe(id) {
    return this.items[id].title.toUpperCase();
  }
}
const r = new Registry();
r.add(1, { title: "lamp" });
console.log(r.describe(1));
