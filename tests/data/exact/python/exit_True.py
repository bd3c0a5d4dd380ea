import sys
print("going")
sys.exit(True)
