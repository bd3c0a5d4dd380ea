class Dog:
    def bark():
        return "Woof"


dog = Dog()
print(dog.bark())
