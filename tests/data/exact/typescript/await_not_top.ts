async function main(): Promise<number> { return await Promise.resolve(1); }
main().then((v: number) => console.log(v));
