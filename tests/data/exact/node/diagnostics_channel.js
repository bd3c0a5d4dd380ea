const dc = require('diagnostics_channel');
const c = dc.channel('x'); c.subscribe((m, n) => console.log(m, n)); c.publish({ a: 1 }); console.log(c.hasSubscribers, dc.hasSubscribers('y'));
