(async () => {
  const m = await import('./m.mjs');
  console.log(m, m.default, Object.keys(m));
  console.log((await import('./c.js')).default);
  try { await import('./no.mjs'); } catch (e) { console.log(e.code, e.message); }
  console.log(await import('data:text/javascript,export default 5'));
})();
