const o = {};
function A() { Error.captureStackTrace(o, A); }
A();
console.log(o.stack, Error.stackTraceLimit);
