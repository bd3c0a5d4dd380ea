console.log('never printed');
function f() {
  return 1 +* 2;
}
