enum Flags { None = 0, A = 1 << 0, B = 1 << 1, AB = A | B, Len = 'abc'.length }
console.log(Flags, Flags.AB, Flags[3]);
