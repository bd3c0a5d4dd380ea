class Purse:
    def __init__(self):
        self.coins = 0

    def deposit(self, n):
        self.coins += n


total = Purse().deposit(5)
print(total + 1)
