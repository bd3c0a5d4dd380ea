import pandas as pd
s=pd.Series(['1','x'])
print(pd.to_numeric(s))
