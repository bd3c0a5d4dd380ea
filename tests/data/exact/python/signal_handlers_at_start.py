import signal
for s in sorted(signal.Signals):
    h = signal.getsignal(s)
    print(s.name, getattr(h, "__name__", h))
print(signal.pthread_sigmask(signal.SIG_BLOCK, []), signal.getitimer(signal.ITIMER_REAL), signal.siginterrupt)
