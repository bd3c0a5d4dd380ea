from enum import Enum


class Light(Enum):
    RED = 1
    GREEN = 2


print(Light["red"])
