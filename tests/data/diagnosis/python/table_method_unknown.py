import pandas as pd

towns = pd.DataFrame({"a": [1]})
towns.rename_columns({"a": "b"})
