import builtins
print(sorted(vars(builtins)))
print(repr(exit), repr(copyright)[:30], repr(help), __debug__, __import__)
