def inner():
    raise ValueError("inner")
try:
    try:
        inner()
    except ValueError as e:
        raise KeyError("outer") from e
except KeyError as e:
    raise RuntimeError("last") from e
