from .pricing import total


class Cart:
    def __init__(self):
        self.lines = []

    def add(self, name, price):
        self.lines.append((name, price))

    def checkout(self):
        return total(self.lines)
