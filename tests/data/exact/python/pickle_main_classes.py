import pickle, copy
class P:
    def __init__(self, x): self.x = x
    def __eq__(self, o): return self.x == o.x
data = pickle.dumps(P([1, {2: (3,)}]))
print(pickle.loads(data) == P([1, {2: (3,)}]), b"__main__" in data, copy.deepcopy(P(1)).x)
try:
    pickle.dumps(lambda: 1)
except Exception as e:
    print(type(e).__name__, str(e).split(" at ")[0])
