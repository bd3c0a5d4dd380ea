from abc import ABC, abstractmethod
class A(ABC):
    @abstractmethod
    def f(self): ...
class B(A):
    def f(self): return "b"
print(B().f(), A.__abstractmethods__, isinstance(B(), A))
A()
