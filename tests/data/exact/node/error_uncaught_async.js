async function f() { await 1; throw new Error('async'); }
async function g() { await f(); }
g();
