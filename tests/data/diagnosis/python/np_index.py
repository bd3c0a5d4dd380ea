import numpy as np


def diagonal_sum(m):
    total = 0
    for i in range(m.shape[0]):
        total += m[i, i]
    return total


print(diagonal_sum(np.eye(3)))
print(diagonal_sum(np.ones((3, 2))))
