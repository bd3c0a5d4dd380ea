import sys
class Out:
    def write(self, s): sys.__stdout__.write(s.upper())
    def flush(self): sys.__stdout__.write("[flush]")
sys.stdout = Out()
print("hello")
