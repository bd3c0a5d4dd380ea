import numpy as np


def normalise(matrix):
    data = np.asarray(matrix, dtype=np.float)
    return (data - data.mean(axis=0)) / data.std(axis=0)


def main():
    sample = [[1, 2], [3, 4], [5, 9]]
    print(normalise(sample))


main()
