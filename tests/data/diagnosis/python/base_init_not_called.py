class A:
    def __init__(self):
        self.x=1
class B(A):
    def __init__(self):
        self.y=2
print(B().x)
