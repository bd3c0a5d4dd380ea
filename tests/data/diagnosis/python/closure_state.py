def make_account(balance):
    history = []

    def deposit(amount):
        balance = balance + amount
        history.append(("deposit", amount))
        return balance

    def log():
        return list(history)

    return deposit, log


deposit, log = make_account(100)
print(deposit(50))
print(log())
