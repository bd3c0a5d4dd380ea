from enum import Enum
class C(Enum):
    RED = 1
C("RED")
