import pandas as pd
df = pd.DataFrame({"k": [1,2]})
print(int(df["k"]))
