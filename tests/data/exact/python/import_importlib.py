import importlib, importlib.util, sys
m = importlib.import_module("plug")
m.count = 5
importlib.reload(m)
print(m.count, importlib.util.find_spec("plug"), importlib.util.find_spec("nope"))
spec = importlib.util.spec_from_file_location("other", "plug.py")
o = importlib.util.module_from_spec(spec)
spec.loader.exec_module(o)
print(o)
