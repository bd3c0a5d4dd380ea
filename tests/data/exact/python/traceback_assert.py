def check(x):
    assert x > 10, f"{x} is too small"
check(3)
