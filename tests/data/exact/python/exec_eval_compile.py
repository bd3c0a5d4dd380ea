ns = {}
exec("x = 1\ndef f(): return x", ns)
print(ns["f"](), eval("x + 1", ns), compile("a", "n", "eval").co_names, sorted(k for k in ns if k != "__builtins__"))
exec("y = 5")
print(y, eval("__name__"))
