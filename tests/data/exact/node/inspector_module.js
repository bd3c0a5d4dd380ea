const i = require('inspector');
console.log(i.url());
const s = new i.Session(); s.connect();
s.post('Runtime.evaluate', { expression: '6 * 7' }, (e, r) => console.log(r.result.value));
s.disconnect();
