import sys
sys.stdout.write("\udcff\n")
