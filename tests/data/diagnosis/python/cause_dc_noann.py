from dataclasses import dataclass
@dataclass
class A:
    x = 0
A(x=1)
