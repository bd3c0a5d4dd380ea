class Item:
    def __init__(self, name, price):
        self.name = name
        self.price = price

    def line(self):
        return self.name + ": " + self.price + " EUR"


def receipt(items):
    return "\n".join(item.line() for item in items)


print(receipt([Item("tea", 2.5), Item("cake", 3)]))
