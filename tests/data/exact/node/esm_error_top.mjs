await Promise.resolve();
function f() { throw new TypeError('at the top'); }
f();
