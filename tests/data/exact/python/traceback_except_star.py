try:
    raise ExceptionGroup("g", [ValueError(1), TypeError(2), KeyError(3)])
except* ValueError as g:
    print("values", g.exceptions)
except* TypeError as g:
    print("types", g.exceptions)
