import inspect, linecache
def f(a, *, b: int = 3) -> str:
    """Doc."""
    return str(a)
print(inspect.getsource(f), inspect.signature(f), inspect.getdoc(f), inspect.getfile(f), inspect.getsourcelines(f)[1])
print(linecache.getline(__file__, 2), inspect.getmodule(f).__name__, inspect.stack()[0].code_context, inspect.currentframe().f_lineno)
