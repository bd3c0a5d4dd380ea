def parse(text):
    try:
        return int(text)
    except ValueError as e:
        # The place that raises is what is looked for, and the cause is told beside it.
        message = f"bad number: {text}"
        raise RuntimeError(message) from e


print(parse("ten"))
