const r = new WeakRef({ a: 1 }); const f = new FinalizationRegistry(() => {});
f.register({}, 1); console.log(typeof r.deref(), r, f);
