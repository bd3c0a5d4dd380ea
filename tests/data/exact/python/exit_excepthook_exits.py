import sys
def hook(t, v, tb):
    print("hook")
    sys.exit(77)
sys.excepthook = hook
1 / 0
