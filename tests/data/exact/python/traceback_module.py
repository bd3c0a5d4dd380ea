import sys, traceback
def f():
    x = 1
    raise ValueError("formatted")
try:
    f()
except ValueError as e:
    traceback.print_exc(file=sys.stdout)
    print(traceback.format_exception_only(e))
    tb = traceback.TracebackException.from_exception(e)
    print("".join(tb.format()), tb.stack[-1].line, tb.stack[-1].colno)
traceback.print_stack(file=sys.stdout)
print(traceback.extract_stack()[-1])
