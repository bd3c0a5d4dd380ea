import os
fs = []
for i in range(5):
    f = open(f"f{i}", "w")
    f.write(f"content {i}")
    fs.append(f)
import atexit
pid = os.getpid()
r, w = os.pipe()
if os.fork() == 0:
    import time
    os.close(w)
    os.read(r, 1)
    time.sleep(0.3)
    print([open(f"f{i}").read() for i in range(5)], flush=True)
    os._exit(0)
