function load() {
  const r = await Promise.resolve(1);
  return r;
}
load();
