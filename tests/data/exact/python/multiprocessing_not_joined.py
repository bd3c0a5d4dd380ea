import multiprocessing as mp, time
def f():
    time.sleep(0.1)
    print("child done", flush=True)
if __name__ == "__main__":
    mp.Process(target=f).start()
    print("main done", flush=True)
