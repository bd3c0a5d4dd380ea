const z = require('zlib');
console.log(z.gunzipSync(z.gzipSync('abc')).toString(), z.deflateSync('aaaa').toString('hex'), z.brotliDecompressSync(z.brotliCompressSync('br')).toString(), z.inflateRawSync(z.deflateRawSync('raw')).toString());
z.gzip('async', (e, b) => z.gunzip(b, (e2, r) => console.log(String(r))));
try { z.inflateSync('junk'); } catch (e) { console.log(e.code, e.message); }
