import sys
calls = []
def tracer(frame, event, arg):
    if frame.f_code.co_filename == __file__:
        calls.append((event, frame.f_code.co_name, frame.f_lineno))
    return tracer
def f(x):
    y = x + 1
    return y
sys.settrace(tracer)
f(1)
sys.settrace(None)
print(calls)
sys.setprofile(lambda frame, event, arg: calls.append(event))
f(2)
sys.setprofile(None)
print(len(calls) > 6)
