"""A network between a browser and a service that is slow, or that is cut without a word.

    with SlowLink(service.port, latency=0.2, rate=200_000) as link:
        ...  # http://127.0.0.1:{link.port} is the service

`link.cut = True`: connections stay open and carry nothing, as after a pulled cable.
"""

import socket
import threading
import time

CHUNK = 16384


class SlowLink:
    def __init__(self, port, latency=0.0, rate=None):
        """`latency`: seconds for each piece, in each direction; `rate`: bytes a second of each connection."""
        self.target, self.latency, self.rate, self.cut = port, latency, rate, False
        self.open = set()
        self.server = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self.server.getsockname()[1]

    def __enter__(self):
        threading.Thread(target=self.accept, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.close()
        for s in list(self.open):
            s.close()

    def accept(self):
        while True:
            try:
                near, _ = self.server.accept()
                far = socket.create_connection(("127.0.0.1", self.target))
            except OSError:
                return
            self.open |= {near, far}
            for a, b in ((near, far), (far, near)):
                threading.Thread(target=self.carry, args=(a, b), daemon=True).start()

    def carry(self, source, sink):
        try:
            while data := source.recv(CHUNK):
                time.sleep(self.latency + (len(data) / self.rate if self.rate else 0))
                while self.cut:
                    time.sleep(0.05)
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)
        except OSError:
            pass
