import multiprocessing as mp
def f(): raise ValueError("in the child")
if __name__ == "__main__":
    p = mp.Process(target=f, name="Failing")
    p.start(); p.join()
    print(p.exitcode, mp.current_process().name, len(mp.current_process().authkey), mp.active_children())
