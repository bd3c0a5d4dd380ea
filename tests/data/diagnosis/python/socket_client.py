import socket


class Client:
    def __init__(self, host, port):
        self.sock = socket.create_connection((host, port), timeout=2)

    def ping(self):
        self.sock.sendall(b"PING\r\n")
        return self.sock.recv(64)


print(Client("redis.internal", 6379).ping())
