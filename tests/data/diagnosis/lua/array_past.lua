local xs = { 1, 2, 3 }
for i = 1, #xs do print(xs[i] < xs[i + 1]) end
