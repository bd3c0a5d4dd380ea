const c = require('crypto');
for (const a of ['md5', 'sha1', 'sha256', 'sha512', 'sha3-256', 'blake2b512', 'ripemd160']) { try { console.log(a, c.createHash(a).update('x').digest('hex')); } catch (e) { console.log(a, e.code); } }
console.log(c.createHmac('sha256', 'k').update('d').digest('base64'), c.getHashes().length, c.timingSafeEqual(Buffer.from('a'), Buffer.from('a')));
