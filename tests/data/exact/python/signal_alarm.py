import signal, time
def on(n, frame):
    print("signal", n, frame.f_code.co_name)
signal.signal(signal.SIGALRM, on)
signal.setitimer(signal.ITIMER_REAL, 0.05)
time.sleep(0.2)
signal.pause if False else None
print("done")
