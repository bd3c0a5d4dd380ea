const teams = [{ points: [1, 2] }, {}];
for (const { points } of teams) {
  console.log(Math.max(...points));
}
