import pandas as pd

df = pd.DataFrame([{"a": 1}])
row = pd.DataFrame([{"a": 2}])
df = df.append(row, ignore_index=True)
print(len(df))
