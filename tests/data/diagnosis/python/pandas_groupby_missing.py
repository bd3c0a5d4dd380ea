import pandas as pd

orders = pd.DataFrame({
    "customer": ["ann", "bob", "ann"],
    "region": ["north", "south", "north"],
    "amount": [10, 20, 30],
})


def totals(frame, column):
    return frame.groupby(column)["amount"].sum()


print(totals(orders, "region"))
print(totals(orders, "category"))
