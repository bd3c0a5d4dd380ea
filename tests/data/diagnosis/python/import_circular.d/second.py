from first import one


def two():
    return one() + 1
