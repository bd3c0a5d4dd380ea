async function* gen() { yield 1; }
function run() {
  for await (const x of gen()) {
    console.log(x);
  }
}
run();
