def double(x):
    x * 2


result = double(21)
print(result + 1)
