import os
os.environ["N"] = "3"
n = os.environ.get("N")
for i in range(n): print(i)
