import json
from enum import Enum
class C(Enum):
    A = 1
json.dumps(C.A)
