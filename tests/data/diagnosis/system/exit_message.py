import sys

sys.exit("the settings are missing")
