import matplotlib
matplotlib.use("svg")
import matplotlib.pyplot as plt
plt.plot([1])
plt.savefig("x.svg")
print(matplotlib.get_backend(), open("x.svg").read()[:38])
plt.show()
