def first_even(numbers):
    return next(n for n in numbers if n % 2 == 0)


print(first_even([1, 2, 3]))
print(first_even([1, 3]))
