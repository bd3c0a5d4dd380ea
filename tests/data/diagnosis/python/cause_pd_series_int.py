import pandas as pd
s = pd.Series([5,6,7])
s = s[s > 5]
print(s[0])
