/** A point. */
/* x: number */ type Point = { x: number /* inline */; y: number }; // trailing
const s = 'a: string as number'; /* const t: string = 'x' */
const re = /x: number/g;
console.log(s, `t: ${(1 as number) + 1} as`, re.source);
