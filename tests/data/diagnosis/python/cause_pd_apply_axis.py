import pandas as pd
df = pd.DataFrame({"a": [1], "b": [2]})
df.apply(lambda r: r["a"] + r["b"])
