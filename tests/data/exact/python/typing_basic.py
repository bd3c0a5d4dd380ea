from typing import NamedTuple, TypedDict, Protocol, Generic, TypeVar, Optional, get_type_hints, runtime_checkable
T = TypeVar("T")
class N(NamedTuple):
    a: int
    b: str = "x"
class B(Generic[T]): pass
@runtime_checkable
class Q(Protocol):
    def go(self): ...
def f(x: Optional[int]) -> list[str]: ...
print(N(1), N.__annotations__, B[int], get_type_hints(f), isinstance(3, Q), Optional[int], T)
