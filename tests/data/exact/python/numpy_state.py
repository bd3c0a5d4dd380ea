import numpy as np, sys, os, warnings
print(sorted(k for k in os.environ if "THREADS" in k or k.startswith(("MPL", "OPENBLAS", "OMP"))), sorted({str(f[1].pattern) for f in warnings.filters if f[1] and "numpy" in f[1].pattern}), np.random.get_state()[2])
