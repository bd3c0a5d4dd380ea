import sys
assert False
print(sys.flags.optimize, __debug__)
