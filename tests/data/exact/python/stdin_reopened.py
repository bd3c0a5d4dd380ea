import sys, os
f = os.fdopen(0, closefd=False)
print(repr(f.read()))
sys.stdin.close()
try:
    input()
except ValueError as e:
    print(e)
