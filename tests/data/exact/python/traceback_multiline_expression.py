def f(a, b):
    return (a
            + b
            / (a - a))
print(
    f(
        1,
        2,
    )
)
