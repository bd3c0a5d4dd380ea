function first<T extends { id: number }>(items: T[]): T {
  return items[0];
}

const users = [{ id: 1, name: 'Ada' }];
console.log(first(users).name);
console.log(first(['a', 'b']));
