def check(values):
    errors = []
    for v in values:
        try:
            int(v)
        except ValueError as e:
            errors.append(e)
    if errors:
        raise ExceptionGroup("bad values", errors)


check(["1", "two", "three"])
