import pkg.sub
print(pkg.value, pkg.sub.value)
from pkg import *
print(sorted(k for k in globals() if not k.startswith("__")))
