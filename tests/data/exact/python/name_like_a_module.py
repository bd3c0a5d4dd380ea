import sys
print("as a program", __name__)
import random
if __name__ == "__main__":
    import json
    print(json.__file__, json.__name__)
