import sys
print("going")
sys.exit(2.5)
