function a(x: number): never { throw new Error('e' + x); }
const b = (x: number): never => a(x as number);
try { b(1); } catch (e: unknown) { console.log((e as Error).stack); }
