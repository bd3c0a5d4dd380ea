from __future__ import annotations
def f(x: undefined_thing) -> also_undefined: pass
print(f.__annotations__, __annotations__ if "__annotations__" in globals() else None)
