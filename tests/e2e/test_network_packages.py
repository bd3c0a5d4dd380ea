"""A program installs a package from a mirror of its network list, with the tool that people use (R4.2)."""

import io
import subprocess
import zipfile

import pytest

from harness import ROOT, belljar
from world import PRIVATE, WORLD, World

pytestmark = pytest.mark.skipif(not ROOT, reason="it takes root to make the namespaces of the test")

INSTALL = b"""
/usr/bin/python3 -m pip install --no-cache-dir --disable-pip-version-check -q --target /sandbox/lib \
    --index-url http://mirror.example.org/simple --trusted-host mirror.example.org tiny-pkg
PYTHONPATH=/sandbox/lib /usr/bin/python3 -c 'import tiny_pkg; print(tiny_pkg.ANSWER)'
"""
NAME = "tiny_pkg-1.0-py3-none-any.whl"


def wheel():
    files = {"tiny_pkg/__init__.py": "ANSWER = 42\n",
             "tiny_pkg-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: tiny-pkg\nVersion: 1.0\n",
             "tiny_pkg-1.0.dist-info/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
             "tiny_pkg-1.0.dist-info/RECORD": ""}
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as z:
        for name, text in files.items():
            z.writestr(name, text)
    return packed.getvalue()


def mirror(c):
    head = b""
    while b"\r\n\r\n" not in head:
        piece = c.recv(65536)
        if not piece:
            return
        head += piece
    is_file = NAME.encode() in head.split()[1]
    body = wheel() if is_file else f'<a href="/files/{NAME}">{NAME}</a>'.encode()
    kind = b"application/octet-stream" if is_file else b"text/html"
    fields = b"Content-Type: %s\r\nContent-Length: %d\r\nConnection: close\r\n\r\n" % (kind, len(body))
    c.sendall(b"HTTP/1.1 200 OK\r\n" + fields + body)


def test_pip_installs_a_package_from_a_mirror():
    if subprocess.run(["/usr/bin/python3", "-m", "pip", "--version"], capture_output=True, check=False).returncode:
        pytest.skip("/usr/bin/python3 has no pip")
    with World() as w:
        w.listen(80, mirror)
        w.name("mirror.example.org", WORLD)
        r = belljar("run", "--local", "--json", "-l", "bash", "--timeout", "60s", "--memory", "512m", "--disk", "256m",
                    "--allow-net", "mirror.example.org:80", "--allow-private", PRIVATE, "-", stdin=INSTALL,
                    prefix=w.prefix(), within=120)
    assert (r.json["verdict"], r.json["stdout"]) == ("ok", "42\n"), r
    assert {e["host"] for e in r.json["network"]["log"]} == {"mirror.example.org"}, r
