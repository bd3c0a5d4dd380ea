import sys
sys.excepthook = None
1 / 0
