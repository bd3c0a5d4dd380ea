import queue, threading
q, out = queue.Queue(), []
def work():
    while (x := q.get()) is not None:
        out.append(x * 2)
        q.task_done()
t = threading.Thread(target=work); t.start()
for i in range(5): q.put(i)
q.join(); q.put(None); t.join()
print(out)
