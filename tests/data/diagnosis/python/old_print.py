import sys


def fib(n):
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    return a


n = 10
print "fib(%d) = %d" % (n, fib(n))
sys.exit(0)
