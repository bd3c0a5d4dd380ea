import numpy as np
np.random.rand((2, 3))
