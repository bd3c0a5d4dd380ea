import numpy as np
a = np.arange(12).reshape(3, 4)
print(a, a @ a.T, a.mean(axis=0), np.linalg.inv(np.array([[2., 1.], [1., 3.]])), np.__version__)
np.random.seed(0)
print(np.random.rand(3), np.random.default_rng(1).normal(size=3), np.random.RandomState(5).randint(0, 100, 4))
print(np.get_printoptions()["precision"], np.geterr(), np.array([1.0]) / 0)
a @ np.zeros(3)
