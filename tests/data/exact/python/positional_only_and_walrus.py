def f(a, /, b, *, c=1): return a, b, c
if (n := len("abc")) > 2: print(n, f(1, b=2))
f(a=1, b=2)
