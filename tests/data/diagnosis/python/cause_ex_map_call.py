from concurrent.futures import ThreadPoolExecutor
def f(x): return x * 2
with ThreadPoolExecutor() as p:
    print(list(p.map(f(1), [1,2])))
