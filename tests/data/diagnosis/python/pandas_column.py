import pandas as pd

df = pd.DataFrame({"item": ["a", "b", "c"], "price": [3.0, 4.5, 1.25]})
df["discounted"] = df["price"] * 0.9


def summarize(frame):
    by_item = frame.groupby("item").sum()
    return by_item["Price"].mean()


print(summarize(df))
