const ages: Record<string, number> = { ada: 36 };
const names: string[] = ['ada', 'bob'];

function find(name: string): number | undefined {
  return name in ages ? ages[name] : undefined;
}

const total: number = names.map((n) => find(n)).length;
const age: number = find('bob');
console.log(total, age);
