const rows = [[1, 2], [3, 4]];
for (let i = 0; i <= rows.length; i++) {
  console.log(rows[i].length);
}
