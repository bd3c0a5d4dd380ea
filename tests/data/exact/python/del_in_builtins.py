import builtins
class A:
    def __init__(self, n): self.n = n
    def __del__(self): builtins.print("del", self.n) if builtins else None
builtins.mine = A("builtins")
import sys
sys.modules["made_up"] = A("in sys.modules")
