import os
pid = os.fork()
if pid:
    os.waitpid(pid, 0)
print("parent" if pid else "child")
