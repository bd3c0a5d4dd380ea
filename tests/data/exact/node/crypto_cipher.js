const c = require('crypto');
const key = Buffer.alloc(32, 1), iv = Buffer.alloc(12, 2);
const e = c.createCipheriv('aes-256-gcm', key, iv); const out = Buffer.concat([e.update('secret'), e.final()]);
const d = c.createDecipheriv('aes-256-gcm', key, iv); d.setAuthTag(e.getAuthTag());
console.log(out.toString('hex'), e.getAuthTag().toString('hex'), d.update(out, null, 'utf8') + d.final('utf8'));
