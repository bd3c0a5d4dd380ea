import sys
def hook(t, v, tb):
    raise KeyError("in the hook")
sys.excepthook = hook
1 / 0
