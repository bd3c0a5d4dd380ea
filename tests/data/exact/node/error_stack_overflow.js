let n = 0;
function f() { n++; f(); }
try { f(); } catch (e) { console.log(e instanceof RangeError, e.message, n > 5000); }
f();
