class M(type):
    def __del__(cls): print("class", cls.__name__, "dies")
class A(metaclass=M): pass
del A
import gc; gc.collect()
class B(metaclass=M): pass
