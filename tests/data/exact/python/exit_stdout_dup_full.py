import os, sys
sys.stdout.reconfigure(write_through=False, line_buffering=False)
fd = os.open("/dev/full", os.O_WRONLY)
os.dup2(fd, 1)
sys.stdout.write("x")
