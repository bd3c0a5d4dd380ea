import sys
m = sys.modules["__main__"]
for k in sorted(vars(m)):
    v = vars(m)[k]
    print(k, type(v).__name__, repr(v) if k.startswith("__") and "at 0x" not in repr(v) else "")
print(__loader__.name, __loader__.path, type(__loader__), list(vars(m)))
print(sys.path_importer_cache.get(__file__, "absent"), __builtins__ is sys.modules["builtins"])
