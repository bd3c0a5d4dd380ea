import numpy, pandas
class A:
    def __del__(self): print("del at the end of a data program")
a = A()
numpy.held = A()
