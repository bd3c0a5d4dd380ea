import multiprocessing as mp
def f(x): print("in", __name__, x, flush=True)
if __name__ == "__main__":
    ctx = mp.get_context("forkserver")
    p = ctx.Process(target=f, args=(5,))
    p.start(); p.join()
    print(p.exitcode)
