import os, sys
r, w = os.pipe()
os.close(r)
os.dup2(w, 1)
print("nobody reads")
