console.log(Error.stackTraceLimit, Object.keys(require.cache), Object.keys(require.extensions));
function r(n: number): void { if (n === 0) throw new Error('deep'); r(n - 1); }
r(30);
