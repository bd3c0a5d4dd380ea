async function boom(): Promise<never> { throw new RangeError('late'); }
console.log('start' as string);
await boom();
