for (const e of process.eventNames()) console.log(String(e), process.listeners(e).map((l) => l.name));
console.log(process.getMaxListeners(), process._events && Object.keys(process._events));
