"""Servers that are not Belljar, or not any more: each connection gets the next of the given answers.

A request is read to its end: the kernel resets a connection that is closed while it has unread bytes.

    with Fake(b"HTTP/1.1 200 OK\\r\\n…") as fake:
        ...
        assert fake.requests == [b"GET /v1/health HTTP/1.1"]
"""

import re
import socket
import threading


def answer(status, body=b"{}", headers=()):
    lines = [f"HTTP/1.1 {status} Word", "Content-Type: application/json", f"Content-Length: {len(body)}", *headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


ERROR = b'{"error": {"code": "busy", "message": "too many runs", "field": null}}'
STREAM = (b"HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n"
          b'23\r\n{"event":"queued","seq":0,"id":"r"}\r\n1\r\n\n\r\n')


class Fake:
    """After its last answer it closes each connection without one. An answer of None leaves the client waiting."""

    def __init__(self, *answers):
        self.answers, self.requests = list(answers), []
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.socket.getsockname()[1]}"
        self.held = []
        self.thread = threading.Thread(target=self.serve, daemon=True)

    def serve(self):
        while True:
            try:
                connection, _ = self.socket.accept()
            except OSError:
                return
            with connection:
                connection.settimeout(20)
                head = b""
                while b"\r\n\r\n" not in head:
                    piece = connection.recv(65536)
                    if not piece:
                        break
                    head += piece
                if not head:
                    continue
                self.requests.append(head.partition(b"\r\n")[0])
                head, _, body = head.partition(b"\r\n\r\n")
                length = re.search(rb"\r\ncontent-length: *(\d+)", head, re.IGNORECASE)
                while length and len(body) < int(length[1]):
                    piece = connection.recv(65536)
                    if not piece:
                        break
                    body += piece
                reply = self.answers.pop(0) if self.answers else b""
                if reply is None:
                    self.held.append(connection.dup())
                else:
                    connection.sendall(reply)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()
        self.thread.join(20)
        for connection in self.held:
            connection.close()
