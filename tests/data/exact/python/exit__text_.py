import sys
print("going")
sys.exit("text")
