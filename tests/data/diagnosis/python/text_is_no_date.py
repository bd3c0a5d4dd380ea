import pandas as pd

days = pd.Series(["2024-05-01", "soon"])
pd.to_datetime(days)
