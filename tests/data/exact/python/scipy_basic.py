import scipy, numpy as np
from scipy import stats, optimize, linalg, integrate, interpolate, signal, sparse, special
print(stats.norm.cdf(1.96), optimize.minimize_scalar(lambda x: (x - 2) ** 2).x.round(6), linalg.det(np.eye(3)), integrate.quad(lambda x: x, 0, 1)[0])
print(interpolate.interp1d([0, 1], [0, 2])(0.5), signal.convolve([1, 2], [1, 1]), sparse.eye(2).toarray(), special.gamma(5), stats.ttest_ind([1, 2, 3], [4, 5, 6]).pvalue.round(6))
