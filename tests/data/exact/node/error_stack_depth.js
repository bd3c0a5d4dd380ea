function f(n) { if (n === 0) throw new Error('deep'); f(n - 1); }
try { f(30); } catch (e) { console.log(e.stack.split('\n').length, e.stack); }
Error.stackTraceLimit = 100;
try { f(5); } catch (e) { console.log(e.stack); }
