def counter():
    n = 0

    def step():
        n += 1
        return n
    return step


counter()()
