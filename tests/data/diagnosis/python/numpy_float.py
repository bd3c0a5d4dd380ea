import numpy as np


def convert(values):
    return np.array(values, dtype=np.float)


print(convert([1, 2]))
