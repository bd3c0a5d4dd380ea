import threading
for _ in range(3):
    t = threading.Thread(target=lambda: print(threading.current_thread().name))
    t.start(); t.join()
