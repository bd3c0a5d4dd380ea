const c = require('crypto');
console.log(c.pbkdf2Sync('p', 's', 1000, 16, 'sha256').toString('hex'), c.scryptSync('p', 's', 16, { N: 1024 }).toString('hex'), Buffer.from(c.hkdfSync('sha256', 'k', 's', 'i', 16)).toString('hex'));
c.scrypt('p', 's', 16, { N: 1024 }, (e, k) => {
  console.log('async', k.toString('hex'));
  c.pbkdf2('p', 's', 1000, 16, 'sha512', (e2, k2) => console.log('async', k2.toString('hex')));
});
