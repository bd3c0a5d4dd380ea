class Bag:
    def __init__(self, items):
        self.items = items

    def __iter__(self):
        return self.items


for item in Bag([1, 2]):
    print(item)
