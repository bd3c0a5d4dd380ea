import numpy as np

prices = np.array(["1.5", "2"])
print(prices * 2)
