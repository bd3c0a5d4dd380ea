import numpy as np

values = np.zeros(3)
values.append(4)
