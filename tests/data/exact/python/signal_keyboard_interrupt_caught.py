import os, signal
try:
    os.kill(os.getpid(), signal.SIGINT)
    import time; time.sleep(1)
except KeyboardInterrupt as e:
    print("caught", repr(e))
