const b = Buffer.from('héllo');
console.log(b, b.toString('base64'), b.readUInt16BE(0), Buffer.concat([b, Buffer.alloc(2)]), b.subarray(1, 3), Buffer.byteLength('ü'), b.equals(Buffer.from('héllo')), Buffer.compare(Buffer.from('a'), Buffer.from('b')), b.indexOf('l'), Buffer.from([256, -1, 1.9]), Buffer.from('zz', 'hex'), b.swap16 && b.length, Buffer.poolSize, require('buffer').constants);
console.log(new Float64Array([1.5, NaN]), new DataView(new ArrayBuffer(4)).getInt8(0), new BigInt64Array([1n]), Uint8Array.from('123'), new Uint8Array([1, 2, 3]).toReversed());
