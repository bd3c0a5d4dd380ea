class A:
    def __init__(self): self.age = 3
    @property
    def age(self):
        return self._age
    @age.setter
    def age(self, v):
        self.age = v
A()
