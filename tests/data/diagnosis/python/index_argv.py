import sys

name = sys.argv[1]
print("hello", name)
