interface Page<T> { items: T[]; next: string | null }
const p: Page = { items: [1], next: null };
console.log(p);
