import os, signal, socket
a, b = socket.socketpair()
a.setblocking(False); b.setblocking(False)
signal.set_wakeup_fd(a.fileno())
signal.signal(signal.SIGUSR1, lambda *x: None)
os.kill(os.getpid(), signal.SIGUSR1)
print(b.recv(10) == bytes([signal.SIGUSR1]))
signal.set_wakeup_fd(-1)
