import pandas as pd, numpy as np
s = pd.Series([1, np.nan, 3], index=list("abc"))
print(s.interpolate(), pd.merge(pd.DataFrame({"k": [1, 2], "x": [3, 4]}), pd.DataFrame({"k": [2, 3], "y": [5, 6]}), how="outer"), pd.to_datetime("2024-03-01"), sep="\n")
print(pd.DataFrame(np.arange(6).reshape(2, 3)).pivot_table(index=0), pd.Timestamp("2024-01-01", tz="Europe/Vienna"))
df = pd.DataFrame({"a": [1, 2]})
df[df.a > 1]["a"] = 5
