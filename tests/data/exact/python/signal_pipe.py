import os, signal
r, w = os.pipe()
os.close(r)
try:
    os.write(w, b"x")
except BrokenPipeError as e:
    print(e)
signal.signal(signal.SIGPIPE, signal.SIG_DFL)
os.write(w, b"x")
