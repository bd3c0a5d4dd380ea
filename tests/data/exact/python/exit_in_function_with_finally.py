import sys
def f():
    try:
        sys.exit(3)
    finally:
        print("finally")
f()
