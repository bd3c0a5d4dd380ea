import numpy as np, os
x = np.random.default_rng(0).random((300, 300))
print(round(float((x @ x).sum()), 4), round(float(np.linalg.eigvalsh(x + x.T)[-1]), 6))
pid = os.fork()
if pid == 0:
    print(round(float((x @ x).sum()), 4))
    os._exit(0)
os.waitpid(pid, 0)
