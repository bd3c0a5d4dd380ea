import pandas as pd


class Ledger:
    def __init__(self):
        self.frame = pd.DataFrame(columns=["date", "amount"])

    def add(self, date, amount):
        self.frame = self.frame.append({"date": date, "amount": amount}, ignore_index=True)

    def total(self):
        return self.frame["amount"].sum()


ledger = Ledger()
for day, amount in [("2024-01-01", 5), ("2024-01-02", 7)]:
    ledger.add(day, amount)
print(ledger.total())
