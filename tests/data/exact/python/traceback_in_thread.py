import threading
def f():
    raise ValueError("in a thread")
t = threading.Thread(target=f, name="worker")
t.start()
t.join()
print("goes on")
