async function f(): Promise<void> { await null; throw new TypeError('async'); }
f();
