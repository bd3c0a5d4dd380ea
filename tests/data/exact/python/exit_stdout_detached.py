import sys, io
out = io.TextIOWrapper(io.BufferedWriter(sys.stdout.detach()), encoding="utf-8")
print("into the detached", file=out)
