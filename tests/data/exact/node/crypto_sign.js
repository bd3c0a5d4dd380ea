const c = require('crypto');
const { privateKey, publicKey } = c.generateKeyPairSync('ed25519');
console.log(c.verify(null, Buffer.from('m'), publicKey, c.sign(null, Buffer.from('m'), privateKey)), publicKey.asymmetricKeyType);
c.generateKeyPair('ec', { namedCurve: 'P-256' }, (e, pub) => {
  console.log(e, pub.type);
  c.generatePrime(64, (e, p) => console.log(p.byteLength));
});
