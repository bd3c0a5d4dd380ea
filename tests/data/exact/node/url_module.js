const u = new URL('https://u:p@host:81/a/../b?x=1&x=2#h');
console.log(u, u.searchParams.getAll('x'), require('url').fileURLToPath('file:///a%20b'), new URLSearchParams({ a: 'ü' }).toString(), require('querystring').parse('a=1&b=2'), require('path').parse('/a/b.c.d'), URL.canParse('x'));
