import threading, time
def work():
    while True:
        time.sleep(0.01)
threading.Thread(target=work, daemon=True).start()
print("main done")
