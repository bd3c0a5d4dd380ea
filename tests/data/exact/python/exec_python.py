import os, sys
os.execv(sys.executable, [sys.executable, "-c", "import sys; print(sys.argv, sys.flags.dont_write_bytecode, sys.path[0])", "a"])
