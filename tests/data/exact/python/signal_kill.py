import os, signal
print("x")
os.kill(os.getpid(), signal.SIGKILL)
