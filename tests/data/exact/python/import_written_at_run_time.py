import importlib
open("fresh.py", "w").write("x = 'written a moment ago'\n")
importlib.invalidate_caches()
import fresh
print(fresh.x)
