import numpy as np

prices = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
weights = np.array([0.5, 0.5])


def weighted(p, w):
    return (p * w).sum(axis=1)


print(weighted(prices, weights))
