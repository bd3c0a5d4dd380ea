import functools, itertools, operator
@functools.lru_cache
def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
print(fib(90), fib.cache_info(), functools.reduce(operator.mul, range(1, 10)), list(itertools.islice(itertools.permutations("abc"), 3)))
@functools.singledispatch
def g(x): return "any"
@g.register
def _(x: int): return "int"
print(g(1), g("x"))
