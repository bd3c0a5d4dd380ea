counter = 0


def count():
    counter += 1
    return counter


count()
