class A:
    def __del__(self):
        global kept
        kept = self
        print("resurrected")
a = A()
del a
print(kept is not None)
