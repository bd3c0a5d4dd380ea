function* g() { const x = yield 1; console.log('got', x); try { yield 2; } finally { console.log('cleanup'); } }
const i = g(); console.log(i.next(), i.next('v'), i.return(9), i.next());
async function* ag() { for (let n = 0; n < 3; n++) yield n; }
(async () => { for await (const x of ag()) console.log(x); console.log(i, ag()); })();
