import numpy as np
print(np.ones(3).shape())
