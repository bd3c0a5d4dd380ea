function f() { enum Local { X, Y } return Local.Y; }
export enum Exported { One = 1 }
console.log(f(), Exported);
