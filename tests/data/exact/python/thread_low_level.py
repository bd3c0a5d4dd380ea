import _thread, time
done = _thread.allocate_lock(); done.acquire()
def f():
    print("low level")
    done.release()
_thread.start_new_thread(f, ())
done.acquire()
