import numpy as np


class Layer:
    def __init__(self, n_in, n_out, rng):
        self.w = rng.normal(size=(n_out, n_in))
        self.b = np.zeros(n_out)

    def forward(self, x):
        return x @ self.w + self.b


rng = np.random.default_rng(0)
net = [Layer(4, 8, rng), Layer(8, 2, rng)]
x = rng.normal(size=(16, 4))
for layer in net:
    x = np.maximum(layer.forward(x), 0)
print(x.shape)
