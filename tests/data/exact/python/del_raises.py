class A:
    def __del__(self):
        raise ValueError("ignored")
    def __repr__(self): return "<A>"
A()
a = A()
print("end")
