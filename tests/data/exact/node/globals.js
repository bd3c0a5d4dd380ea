console.log(Object.getOwnPropertyNames(globalThis).sort().join(' '), Object.keys(globalThis));
