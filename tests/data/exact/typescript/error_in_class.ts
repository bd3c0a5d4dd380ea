class Service<T> {
  private items: T[] = [];
  find(id: number): T {
    const found = this.items[id];
    if (!found) throw new Error(`no item ${id}` as string);
    return found;
  }
}
new Service<string>().find(3);
