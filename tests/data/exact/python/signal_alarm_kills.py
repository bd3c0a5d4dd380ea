import signal, time
print("waiting", flush=True)
signal.setitimer(signal.ITIMER_REAL, 0.05)
time.sleep(5)
