import sys
sys.path.append("lib")
import deep
print(deep.x, deep.__file__, sys.path)
