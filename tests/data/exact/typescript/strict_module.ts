export {};
function f(this: unknown): unknown { return this; }
try { (undeclared as any) = 1; } catch (e) { console.log((e as Error).name); }
declare let undeclared: number;
console.log(f());
