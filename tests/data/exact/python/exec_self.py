import os, sys
if len(sys.argv) < 4:
    os.execv(sys.executable, sys.orig_argv + ["again"])
print(sys.argv)
