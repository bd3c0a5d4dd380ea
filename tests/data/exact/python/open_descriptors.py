import os
print(sorted(map(int, os.listdir("/proc/self/fd")))[:4])
fd = os.open("main.py", os.O_RDONLY)
print(fd)
