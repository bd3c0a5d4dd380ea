import multiprocessing as mp
def f(q, n):
    q.put(n * n)
if __name__ == "__main__":
    mp.set_start_method("fork")
    q = mp.Queue()
    ps = [mp.Process(target=f, args=(q, i)) for i in range(3)]
    [p.start() for p in ps]
    print(sorted(q.get() for _ in ps), [p.name for p in ps])
    [p.join() for p in ps]
    print([p.exitcode for p in ps])
