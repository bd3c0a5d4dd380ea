import pandas as pd

df = pd.DataFrame({"town": ["Ulm", "Bonn"], "size": [1, 2]})
sizes = df.groupby("town").sum()
print(sizes["town"])
