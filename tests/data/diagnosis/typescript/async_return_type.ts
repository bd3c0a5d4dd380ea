async function load(): number {
  return 1;
}
load();
