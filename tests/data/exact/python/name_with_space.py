import sys
print(__file__, sys.argv)
1 / 0
