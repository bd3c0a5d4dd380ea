import pandas as pd

customers = pd.DataFrame({"customer_id": [1, 2], "name": ["Ada", "Bob"]})
orders = pd.DataFrame({"customer": [1, 1, 2], "amount": [5, 7, 9]})


def report(left, right):
    joined = left.merge(right, on="customer_id")
    return joined.groupby("name")["amount"].sum()


print(report(customers, orders))
