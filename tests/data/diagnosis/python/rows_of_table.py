import pandas as pd

sales = pd.DataFrame({"town": ["Ulm"], "sum": [3]})
for sale in sales:
    print(sale["sum"])
