from concurrent.futures import ThreadPoolExecutor, as_completed
with ThreadPoolExecutor(4) as p:
    print(list(p.map(lambda x: x * x, range(10))))
    f = p.submit(lambda: 1 / 0)
    print(type(f.exception()))
