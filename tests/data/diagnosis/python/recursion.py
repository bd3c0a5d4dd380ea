def factorial(n):
    return n * factorial(n - 1)


print(factorial(5))
