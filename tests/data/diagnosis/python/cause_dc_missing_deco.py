class A:
    x: int
    y: int
A(1, 2)
