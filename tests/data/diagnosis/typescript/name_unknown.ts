let counter = 0;

function step(): number {
  counter += 1;
  return countr;
}

console.log(step());
