import os, stat
for fd in (0, 1, 2):
    s = os.fstat(fd)
    print(stat.S_ISFIFO(s.st_mode), os.get_inheritable(fd), os.get_blocking(fd))
