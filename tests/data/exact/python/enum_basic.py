from enum import Enum, IntFlag, auto, StrEnum
class C(Enum):
    RED = auto()
    BLUE = auto()
class F(IntFlag):
    A = 1
    B = 2
class S(StrEnum):
    X = auto()
print(list(C), C.RED, repr(C.BLUE), F.A | F.B, S.X, C["RED"], F(3))
C("nope")
