const b = new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0, 1, 7, 1, 96, 2, 127, 127, 1, 127, 3, 2, 1, 0, 7, 7, 1, 3, 97, 100, 100, 0, 0, 10, 9, 1, 7, 0, 32, 0, 32, 1, 106, 11]);
WebAssembly.instantiate(b).then(({ instance }) => { console.log(instance.exports.add(2, 3)); let s = 0; for (let i = 0; i < 2e6; i++) s = instance.exports.add(s, i); console.log(s); });
console.log(new WebAssembly.Instance(new WebAssembly.Module(b)).exports.add(1, 1), WebAssembly.validate(b));
WebAssembly.compile(new Uint8Array([0, 1])).catch((e) => console.log(e.message));
const m = new WebAssembly.Memory({ initial: 1, maximum: 3 }); console.log(m.grow(1), m.buffer.byteLength);
