const dns = require('dns');
dns.lookup('localhost', { family: 4 }, (e, a) => console.log(e && e.code, a));
dns.lookup('127.0.0.1', (e, a, f) => console.log(e, a, f));
console.log(dns.getServers().length >= 0, dns.getDefaultResultOrder());
