from enum import Enum
class C(Enum):
    A = 1
print(C.A + 1)
