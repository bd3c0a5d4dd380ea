from enum import Enum
class C(Enum):
    A = "active"
C("Active")
