const palette = { red: [255, 0, 0], green: '#0f0' } as { red: number[]; green: string };
let v: string | number = Math.max(1, 2) as number | string;
console.log(palette, v);
v = 'now a string';
console.log((v as string).length, (<string>v).toUpperCase());
