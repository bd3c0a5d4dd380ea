from functools import partial


def adder(n):
    def add(x):
        return x + n
    return add


plus = adder(2)
print(plus[3])
