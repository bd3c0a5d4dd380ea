def opened(name):
    """A context manager without its decorator."""
    yield name


with opened("a") as f:
    print(f)
