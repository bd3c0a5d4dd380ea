import threading

guard = threading.Lock()
total = 0


def add(amount):
    global total
    with guard:
        total += amount
        guard.release()


add(3)
