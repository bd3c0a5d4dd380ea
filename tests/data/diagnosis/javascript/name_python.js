const x = 3;
print(x);
