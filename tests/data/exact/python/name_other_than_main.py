import sys
print(__file__, sys.argv, sys.path[0], sys.orig_argv)
raise ValueError
