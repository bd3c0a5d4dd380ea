import sys
class Out:
    def write(self, s): sys.__stdout__.write(s)
    def flush(self): raise OSError("no flush")
sys.stdout = Out()
print("hello")
