import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt


def chart(xs, ys, path):
    fig, ax = plt.subplots()
    ax.plot(xs, ys, marker="o")
    fig.savefig(path)


chart([1, 2, 3, 4], [1, 4, 9], "out.png")
