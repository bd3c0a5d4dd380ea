import atexit, threading, time
atexit.register(print, "atexit")
def work():
    time.sleep(0.4)
    print("thread done")
threading.Thread(target=work).start()
print("main done")
