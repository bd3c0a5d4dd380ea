import atexit, os
atexit.register(lambda: print("atexit", "parent" if pid else "child"))
pid = os.fork()
if pid:
    os.waitpid(pid, 0)
