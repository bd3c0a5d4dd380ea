from pathlib import Path
for f in Path("."):
    print(f)
