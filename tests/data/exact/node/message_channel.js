const { port1, port2 } = new MessageChannel();
port2.on('message', (m) => { console.log(m); port2.close(); });
port1.postMessage({ a: new Map([[1, new Set([2])]]), b: new Date(0), c: /x/g, d: new Uint8Array(3), e: 10n });
port1.on('close', () => console.log('closed'));
port1.ref(); // or the end may come first
console.log(structuredClone({ x: [1, { y: new Error('e').message }] }));
