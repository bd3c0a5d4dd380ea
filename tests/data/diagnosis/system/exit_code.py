import sys

print("checked")
sys.exit(3)
