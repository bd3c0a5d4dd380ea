import sys
sys.setrecursionlimit(200)
def depth(n):
    try:
        return depth(n + 1)
    except RecursionError as e:
        print(e)
        return n
print(depth(0))
sys.setrecursionlimit(5000)
print(depth(0))
try:
    sys.setrecursionlimit(1)
except RecursionError as e:
    print(e)
