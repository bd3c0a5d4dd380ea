class TooLarge(Exception):
    pass


def limit(n):
    if n < 10:
        return n
    message = f"{n} is too large"
    raise TooLarge(message)


limit(11)
