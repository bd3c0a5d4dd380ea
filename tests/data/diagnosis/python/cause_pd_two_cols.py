import pandas as pd
df = pd.DataFrame({"a": [1], "b": [2]})
print(df["a", "b"])
