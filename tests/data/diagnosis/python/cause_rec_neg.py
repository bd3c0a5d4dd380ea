def fact(n):
    if n == 0:
        return 1
    return n * fact(n - 2)
fact(5)
