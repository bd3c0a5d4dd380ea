import pandas as pd, io
df = pd.read_csv(io.StringIO("a;b\n1;2\n"))
print(df["a"])
