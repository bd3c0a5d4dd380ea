const grid = [[1, 2], [3, 4]];

function neighbours(g, r, c) {
  let sum = 0;
  for (let dr = -1; dr <= 1; dr++) {
    sum += g[r + dr][c];
  }
  return sum;
}

console.log(neighbours(grid, 1, 1));
