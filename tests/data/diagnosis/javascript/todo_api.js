class Todos {
  #items = new Map();

  add(id, title) {
    this.#items.set(id, { id, title, tags: [] });
  }

  tag(id, label) {
    const item = this.#items.get(id);
    item.tags.push(label);
  }
}

const todos = new Todos();
todos.add(1, 'write');
todos.tag(1, 'work');
todos.tag(2, 'home');
