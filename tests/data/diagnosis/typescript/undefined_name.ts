const customers: Map<string, number> = new Map();
customers.set('ada', 3);

function report(): string {
  let out = '';
  for (const [name, n] of costumers) {
    out += `${name}: ${n}\n`;
  }
  return out;
}

console.log(report());
