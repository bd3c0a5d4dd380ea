import numpy as np

temperatures = np.array([18.5, 21.0, 25.3, 30.1])


def classify(t):
    if t > 25 and t < 35:
        return "warm"
    return "mild"


print(classify(temperatures))
