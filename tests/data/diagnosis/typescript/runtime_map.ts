type Entry = { tags: string[] };

const entries = new Map<string, Entry>([['a', { tags: ['x'] }]]);

function tags(key: string): string[] {
  const entry = entries.get(key) as Entry;
  return entry.tags;
}

console.log(tags('a'));
console.log(tags('b'));
