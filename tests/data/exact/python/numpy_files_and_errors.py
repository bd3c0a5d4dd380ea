import numpy as np
np.save("a.npy", np.ones((2, 2)))
m = np.memmap("m.bin", dtype="int32", mode="w+", shape=(4,))
m[:] = 7
print(np.load("a.npy"), np.fromfile("m.bin", dtype="int32"))
with np.errstate(all="raise"):
    np.float64(1) / 0
