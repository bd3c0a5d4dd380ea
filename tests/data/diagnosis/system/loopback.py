import socket

# A database that runs on the host is not here.
socket.create_connection(("127.0.0.1", 5432), timeout=5)
