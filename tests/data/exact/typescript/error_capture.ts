Error.prepareStackTrace = (e: Error, frames: NodeJS.CallSite[]) => frames.map((f) => `${f.getFunctionName()}:${f.getLineNumber()}:${f.getColumnNumber()}`).slice(0, 2);
function named(this: void): unknown { return new Error('x').stack; }
console.log(named());
