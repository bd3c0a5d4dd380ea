import os
for f in os.walk("."):
    print(f.endswith("x"))
