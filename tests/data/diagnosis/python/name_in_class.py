class Account:
    def __init__(self, owner, balance):
        self.owner = owner
        self.balance = balance

    def pay(self, amount):
        if amount > self.balance:
            raise ValueError("too much")
        balance = self.balance - amount
        self.balance = balnce
        return balance


Account("Ada", 10).pay(3)
