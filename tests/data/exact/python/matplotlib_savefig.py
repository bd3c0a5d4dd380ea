import matplotlib
import matplotlib.pyplot as plt
print(matplotlib.get_backend())
fig, ax = plt.subplots()
ax.plot([1, 2, 3], [1, 4, 9], label="x")
ax.legend(); ax.set_title("t")
fig.savefig("p.png")
data = open("p.png", "rb").read()
import hashlib
print(data[:8], len(data) > 1000, hashlib.sha256(data).hexdigest(), plt.get_fignums(), matplotlib.rcParams["figure.dpi"])
