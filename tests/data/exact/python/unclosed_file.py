import subprocess, sys
f = open("out.txt", "w")
f.write("buffered and never flushed by the program")
import atexit, os
def look():
    print("at exit", os.path.getsize("out.txt"))
atexit.register(look)
pid = os.fork()
if pid == 0:
    os._exit(0)
os.waitpid(pid, 0)
