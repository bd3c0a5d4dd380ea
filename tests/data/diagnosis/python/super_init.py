class Animal:
    def __init__(self, name, sound):
        self.name = name
        self.sound = sound

    def speak(self):
        return f"{self.name} says {self.sound}"


class Dog(Animal):
    def __init__(self, name, tricks=()):
        super().__init__(name)
        self.tricks = list(tricks)


class Puppy(Dog):
    pass


print(Puppy("Rex").speak())
