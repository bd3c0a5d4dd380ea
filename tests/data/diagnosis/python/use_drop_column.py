import pandas as pd

df = pd.DataFrame({"a": [1], "b": [2]})
df["c"] = df["a"] + df["b"]
print(df.drop(["b"]))
