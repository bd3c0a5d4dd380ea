"""An authority and certificates for servers of tests: made anew for each test, with the openssl command."""

import socket
import ssl
import subprocess


class Authority:
    """Clients trust `pem`. context(names) is for a server with these names."""

    def __init__(self, folder, name="test authority"):
        self.folder, self.made = folder, 0
        self.pem = folder / f"{name.replace(' ', '-')}.pem"
        self.key = folder / f"{name.replace(' ', '-')}.key"
        self._openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                      "-keyout", self.key, "-out", self.pem, "-subj", f"/CN={name}")

    def _openssl(self, *argv, **options):
        subprocess.run(["openssl", *map(str, argv)], check=True, capture_output=True, **options)

    def context(self, *names, protocols=("http/1.1",)):
        self.made += 1
        key, request, pem, rules = (self.folder / f"{self.made}.{x}" for x in ("key", "csr", "pem", "ext"))
        rules.write_text("subjectAltName=" + ",".join(f"DNS:{n}" for n in names) + "\n")
        self._openssl("req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", key,
                      "-out", request, "-subj", f"/CN={names[0]}")
        self._openssl("x509", "-req", "-in", request, "-CA", self.pem, "-CAkey", self.key, "-CAcreateserial", "-days",
                      "2", "-extfile", rules, "-out", pem)
        c = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        c.load_cert_chain(pem, key)
        c.set_alpn_protocols(list(protocols))
        return c


class Web:
    """A server for World.listen(): it keeps the bytes of each connection, and answers each request with `answer`."""

    def __init__(self, context=None, answer=b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"):
        self.context, self.answer, self.seen, self.names = context, answer, [], []

    def __call__(self, c):
        if self.context:
            self.context.sni_callback = lambda s, name, _: self.names.append(name)
            c = self.context.wrap_socket(c, server_side=True)
        self.seen.append(b"")
        at = len(self.seen) - 1
        answered = 0
        while data := c.recv(65536):
            self.seen[at] += data
            while self.seen[at].count(b"\r\n\r\n") > answered:
                c.sendall(self.answer)
                answered += 1
            if answered and b"\r\nconnection: close\r\n" in self.seen[at].lower():
                break  # the client waits for the end, as PHP does
        try:
            c.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def all(self):
        return b"".join(self.seen)
