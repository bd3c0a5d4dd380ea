import sys, os
fd = os.open("/dev/full", os.O_WRONLY)
sys.stdout = os.fdopen(fd, "w")
print("does not fit")
