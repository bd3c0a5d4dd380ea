class A:
    def __repr__(self):
        return f"A({self})"
print(A())
