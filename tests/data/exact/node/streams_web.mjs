const rs = new ReadableStream({ start(c) { c.enqueue('a'); c.enqueue('b'); c.close(); } });
for await (const x of rs) console.log(x);
console.log(await new Response('body').text(), new Headers({ a: 'b' }), await new Blob(['x', 'y']).text());
const cs = new CompressionStream('gzip'); const w = cs.writable.getWriter(); w.write(new Uint8Array(100)); w.close();
let n = 0; for await (const c of cs.readable) n += c.length; console.log(n > 10);
console.log(new TextDecoder().decode(new TextEncoder().encode('ü')), btoa('x'), atob('eA=='));
