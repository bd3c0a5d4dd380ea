import os
print("x")
os.close(1)
