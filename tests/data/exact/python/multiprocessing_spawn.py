import multiprocessing as mp
def f(c):
    c.send((__name__, mp.current_process().name))
    c.close()
if __name__ == "__main__":
    ctx = mp.get_context("spawn")
    a, b = ctx.Pipe()
    p = ctx.Process(target=f, args=(b,))
    p.start()
    print(a.recv())
    p.join()
