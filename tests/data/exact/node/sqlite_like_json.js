const rows = JSON.parse('[{"a":1,"b":[true,null]}]', (k, v) => (k === 'a' ? v + 1 : v));
console.log(JSON.stringify(rows, null, 2), JSON.stringify({ u: undefined, f() {}, d: new Date(0), n: NaN, m: new Map() }), JSON.stringify('\u2028\ud800'));
