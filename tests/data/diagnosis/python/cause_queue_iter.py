import queue
q = queue.Queue()
for x in q: pass
