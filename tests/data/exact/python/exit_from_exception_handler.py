import sys
try:
    1 / 0
except ZeroDivisionError:
    sys.exit("because of that")
