import sys
sys.stdout.reconfigure(encoding="ascii")
print("ü")
