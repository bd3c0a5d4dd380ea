import re

names = ["a.csv", "b.txt"]
pattern = "*.csv"
print([name for name in names if re.match(pattern, name)])
