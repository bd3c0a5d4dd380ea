import socket

print(socket.create_connection(("example.com", 80), timeout=5))
