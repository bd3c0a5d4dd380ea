import sys
sys.displayhook(42)
import builtins
print(builtins._)
