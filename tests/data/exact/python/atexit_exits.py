import atexit, sys
atexit.register(print, "earlier one still runs")
atexit.register(lambda: sys.exit(9))
