import threading, time
ready = threading.Event()
def work():
    try:
        ready.set()
        time.sleep(10)
    finally:
        print("never said")
threading.Thread(target=work, daemon=True).start()
ready.wait()
