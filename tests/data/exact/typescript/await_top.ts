const wait = (ms: number): Promise<void> => new Promise((r) => setTimeout(r, ms));
console.log('before');
await wait(1);
for await (const x of (async function* (): AsyncGenerator<number> { yield 1; yield 2; })()) console.log(x);
console.log('after', await Promise.all<number>([Promise.resolve(1), 2]));
