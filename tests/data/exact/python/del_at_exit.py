class A:
    def __init__(self, n):
        self.n = n
    def __del__(self):
        print("del", self.n)
a = A(1)
b = A(2)
def keeps(): return a
c = [A(3)]
c.append(c)
import sys
sys.kept = A(4)
import os
os.kept = A(5)
