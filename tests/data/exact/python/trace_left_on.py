import sys
def tracer(frame, event, arg):
    if event == "call":
        sys.stdout.write(f"call {frame.f_code.co_name}\n")
class A:
    def __del__(self): pass
a = A()
sys.settrace(tracer)
