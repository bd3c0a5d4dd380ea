import threading
local = threading.local()
lock, r, c, s, b = threading.Lock(), threading.RLock(), threading.Condition(), threading.Semaphore(2), threading.Barrier(2)
out = []
def work(n):
    local.x = n
    with lock:
        out.append(local.x)
    b.wait()
ts = [threading.Thread(target=work, args=(i,)) for i in range(2)]
[t.start() for t in ts]; [t.join() for t in ts]
print(sorted(out), hasattr(local, "x"))
