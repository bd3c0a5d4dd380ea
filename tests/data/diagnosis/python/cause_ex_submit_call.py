from concurrent.futures import ThreadPoolExecutor
def f(x): return x * 2
with ThreadPoolExecutor() as p:
    r = p.submit(f(2)).result()
