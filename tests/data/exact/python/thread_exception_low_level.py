import _thread, time
def f():
    raise ValueError("unhandled")
_thread.start_new_thread(f, ())
time.sleep(0.2)
