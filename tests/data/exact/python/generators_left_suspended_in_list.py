import sys
def g(n):
    try:
        yield n
    finally:
        sys.stdout.write(f"closed {n}\n")
its = [g(i) for i in range(3)]
[next(i) for i in its]
