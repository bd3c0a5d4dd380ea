const values = [3, 1, 2];

for v in values:
  console.log(v);
