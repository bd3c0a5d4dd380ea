import pandas as pd
df = pd.DataFrame({"a": [1, 2], "b": ["x", "y"]})
print(df[df["a"] > 1 & df["b"] == "x"])
