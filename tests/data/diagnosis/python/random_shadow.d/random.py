SEED = 42


def pick(items):
    return items[SEED % len(items)]
