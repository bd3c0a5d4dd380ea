import sys, os
print("a", end="")
os.write(1, b"b")
sys.stderr.write("c")
os.write(2, b"d")
print("e", file=sys.stderr, end="")
print()
