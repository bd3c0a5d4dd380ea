import numpy as np, json
json.dumps({"a": np.int64(3)})
