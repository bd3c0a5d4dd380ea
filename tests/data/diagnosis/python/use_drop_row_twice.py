import pandas as pd
df = pd.DataFrame({"v": [1, 2]}, index=["x", "y"])
df = df.drop("x")
df = df.drop("x")
