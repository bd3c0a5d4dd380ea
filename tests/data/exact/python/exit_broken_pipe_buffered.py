import os, sys
r, w = os.pipe()
os.close(r)
os.dup2(w, 1)
sys.stdout = open(1, "w", closefd=False)
print("nobody reads")
