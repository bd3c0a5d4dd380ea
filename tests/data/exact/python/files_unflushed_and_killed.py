f = open("f", "w")
f.write("lost")
import os
if os.fork() == 0:
    os.execlp("sh", "sh", "-c", "sleep 0.2; wc -c < f")
os._exit(0)
