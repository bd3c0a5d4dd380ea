import sys
sys.tracebacklimit = 2
def f(n):
    if n: f(n - 1)
    else: 1 / 0
f(5)
