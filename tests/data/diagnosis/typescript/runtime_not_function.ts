interface Plugin {
  name: string;
  run(input: string): string;
}

const plugins: Plugin[] = [
  { name: 'upper', run: (s) => s.toUpperCase() },
  JSON.parse('{"name": "lower"}'),
];

for (const p of plugins) {
  console.log(p.run('Hello'));
}
