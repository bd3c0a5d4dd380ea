"""Helpers to make CSV files."""


def to_line(values):
    return ",".join(str(v) for v in values)
