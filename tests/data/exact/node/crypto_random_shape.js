const c = require('crypto');
console.log(c.randomBytes(8).length, /^[0-9a-f-]{36}$/.test(c.randomUUID()), c.randomInt(5) < 5, crypto.getRandomValues(new Uint8Array(4)).length, Math.random() < 1);
c.randomBytes(4, (e, b) => console.log(b.length));
