from pathlib import Path

for file in [Path("a.csv")]:
    if file.endswith(".csv"):
        print(file)
