import numpy as np

index = np.int(3.7)
print(index)
