type Res = { ok: true; value: number } | { ok: false; error: string };
function show(r: Res) { return r.value; }
console.log(show({ ok: true, value: 1 }));
