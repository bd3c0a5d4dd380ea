class Animal:
    def __init__(self, name):
        self.name = name


class Dog(Animal):
    def __init__(self, name, age):
        super().__init__(self, name)
        self.age = age


Dog("Rex", 3)
