Error.prepareStackTrace = (e, frames) => frames.map((f) => [f.getFunctionName(), f.getFileName(), f.getLineNumber(), f.getColumnNumber(), f.isNative(), f.isToplevel(), f.isEval(), f.isConstructor(), f.getTypeName(), f.getMethodName()].join('|')).join('\n');
console.log(new Error('x').stack);
