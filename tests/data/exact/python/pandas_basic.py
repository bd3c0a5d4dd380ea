import pandas as pd
df = pd.DataFrame({"a": [1, 2, 3], "b": list("xyx"), "d": pd.date_range("2024-01-01", periods=3)})
print(df, df.dtypes, df.groupby("b")["a"].sum(), df.describe(), sep="\n")
df.to_csv("x.csv", index=False)
print(pd.read_csv("x.csv").equals(pd.read_csv("x.csv")), pd.get_option("display.width"))
df["missing"]
