import numpy as np
np.vstack([1,2],[3,4])
