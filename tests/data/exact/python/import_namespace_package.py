import ns.mod
print(ns.mod.x, ns.__path__, ns.__file__ if hasattr(ns, "__file__") else None, ns.__spec__.origin)
