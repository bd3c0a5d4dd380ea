class Account:
    def __init__(self, owner, balance=0):
        self.owner = owner
        self.balance = balance

    def deposit(self, amount):
        if amount <= 0:
            raise ValueError("amount must be positive")
        self.balance += amount

    def withdraw(self, amount):
        if amount > balance:
            raise ValueError("not enough money")
        self.balance -= amount


acc = Account("Ada", 100)
acc.deposit(50)
acc.withdraw(20)
print(acc.balance)
