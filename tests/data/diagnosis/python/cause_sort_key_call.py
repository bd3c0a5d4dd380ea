def key(x): return x
xs = [3,1]
xs.sort(key=key(1))
