console.log(Object.getOwnPropertyNames(globalThis).sort().join().length, typeof ts, process.listenerCount('exit'), module.children.length);
declare const ts: unknown;
