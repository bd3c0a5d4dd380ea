import socket, threading
s = socket.create_server(("127.0.0.1", 0))
def serve():
    c, _ = s.accept()
    c.sendall(c.recv(10).upper())
    c.close()
threading.Thread(target=serve).start()
c = socket.create_connection(s.getsockname())
c.sendall(b"ping")
print(c.recv(10))
a, b = socket.socketpair()
print(socket.getdefaulttimeout(), a.family, socket.has_ipv6)
