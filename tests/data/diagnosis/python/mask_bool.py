import numpy as np

values = np.arange(12).reshape(3, 4)
mask = np.zeros(values.shape, dtype=np.bool)
mask[values % 2 == 0] = True
print(values[mask])
