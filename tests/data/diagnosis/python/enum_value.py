from enum import Enum


class Color(Enum):
    RED = "red"
    GREEN = "green"


def parse(names):
    return [Color(n) for n in names]


print(parse(["red", "green"]))
print(parse(["blue"]))
