class A { items = []; add(x: number) { this.items.push(x); } }
new A().add(1);
