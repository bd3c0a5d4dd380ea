from dataclasses import dataclass, field, asdict, replace
@dataclass(order=True, frozen=True)
class D:
    a: int
    b: list = field(default_factory=list, compare=False)
print(D(1), asdict(D(2, [3])), D(1) < D(2), replace(D(1), a=9))
D(1).a = 2
