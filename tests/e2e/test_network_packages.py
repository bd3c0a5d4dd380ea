"""A program installs a package from a mirror of its network list, with the tool that people use (R4.2)."""

import base64
import gzip
import hashlib
import io
import json
import shutil
import subprocess
import tarfile
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
NPM = b"""
npm install --silent --no-audit --no-fund --registry http://mirror.example.org tiny-pkg >/dev/null
node -p 'require("tiny-pkg")'
"""
# apt-get keeps everything beneath one directory, and gets the packages as the user of the jar.
APT = b"""
apt=/sandbox/apt
mkdir -p $apt/etc/apt $apt/var/lib/apt/lists/partial $apt/var/cache/apt/archives/partial $apt/var/lib/dpkg
touch $apt/var/lib/dpkg/status
echo 'deb [trusted=yes] http://mirror.example.org ./' >$apt/etc/apt/sources.list
get() { apt-get -qq -o Dir=$apt -o Dir::State::status=$apt/var/lib/dpkg/status -o APT::Sandbox::User= "$@"; }
get update && get download tiny && dpkg-deb -x tiny_1.0_all.deb out && cat out/usr/share/tiny/answer
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


def mirror(files):
    """A web server with these files; a name that it does not have is not found."""
    def handler(c):
        head = b""
        while b"\r\n\r\n" not in head:
            piece = c.recv(65536)
            if not piece:
                return
            head += piece
        kind, body = files.get(head.split()[1].decode(), (None, b""))
        status = b"200 OK" if kind else b"404 Not Found"
        fields = b"Content-Type: %s\r\nContent-Length: %d\r\nConnection: close\r\n\r\n" % (
            (kind or "text/plain").encode(), len(body))
        c.sendall(b"HTTP/1.1 " + status + b"\r\n" + fields + body)

    return handler


def tar_of(files):
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as t:
        for name, text in files.items():
            info = tarfile.TarInfo(name)
            info.size, info.mode = len(text), 0o644
            t.addfile(info, io.BytesIO(text.encode()))
    return packed.getvalue()


def run(files, script):
    with World() as w:
        w.listen(80, mirror(files))
        w.name("mirror.example.org", WORLD)
        r = belljar("run", "--local", "--json", "-l", "bash", "--timeout", "100s", "--cpu-time", "100s", "--memory",
                    "1g", "--disk", "256m", "--pids", "256", "--allow-net", "mirror.example.org:80",
                    "--allow-private", PRIVATE, "-", stdin=script, prefix=w.prefix(), within=200)
    assert {e["host"] for e in r.json["network"]["log"]} == {"mirror.example.org"}, r
    return r


def test_pip_installs_a_package_from_a_mirror():
    if subprocess.run(["/usr/bin/python3", "-m", "pip", "--version"], capture_output=True, check=False).returncode:
        pytest.skip("/usr/bin/python3 has no pip")
    index = f'<a href="/files/{NAME}">{NAME}</a>'.encode()
    r = run({"/simple/tiny-pkg/": ("text/html", index),
             f"/files/{NAME}": ("application/octet-stream", wheel())}, INSTALL)
    assert (r.json["verdict"], r.json["stdout"]) == ("ok", "42\n"), r


def test_npm_installs_a_package_from_a_mirror():
    if not shutil.which("npm", path="/usr/bin:/bin"):
        pytest.skip("npm is not installed")
    packed = tar_of({"package/package.json": '{"name": "tiny-pkg", "version": "1.0.0", "main": "index.js"}',
                     "package/index.js": "module.exports = 42\n"})
    version = {"name": "tiny-pkg", "version": "1.0.0", "main": "index.js", "dist": {
        "tarball": "http://mirror.example.org/tiny-pkg/-/tiny-pkg-1.0.0.tgz",
        "integrity": "sha512-" + base64.b64encode(hashlib.sha512(packed).digest()).decode()}}
    about = {"name": "tiny-pkg", "dist-tags": {"latest": "1.0.0"}, "versions": {"1.0.0": version}}
    r = run({"/tiny-pkg": ("application/json", json.dumps(about).encode()),
             "/tiny-pkg/-/tiny-pkg-1.0.0.tgz": ("application/octet-stream", packed)}, NPM)
    assert (r.json["verdict"], r.json["stdout"]) == ("ok", "42\n"), r


def deb():
    """A package by hand: an ar archive of three files."""
    control = tar_of({"./control": "Package: tiny\nVersion: 1.0\nArchitecture: all\nMaintainer: a <a@example.org>\n"
                                   "Description: tiny\n"})
    packed = b"!<arch>\n"
    for name, body in (("debian-binary", b"2.0\n"), ("control.tar.gz", control),
                       ("data.tar.gz", tar_of({"./usr/share/tiny/answer": "42\n"}))):
        head = f"{name:<16}{0:<12}{0:<6}{0:<6}{100644:<8}{len(body):<10}`\n"
        packed += head.encode() + body + b"\n" * (len(body) % 2)
    return packed


def test_apt_get_downloads_a_package_from_a_mirror():
    if not shutil.which("apt-get", path="/usr/bin:/bin"):
        pytest.skip("apt-get is not installed")
    packed = deb()
    listed = (f"Package: tiny\nVersion: 1.0\nArchitecture: all\nMaintainer: a <a@example.org>\nDescription: tiny\n"
              f"Filename: ./tiny_1.0_all.deb\nSize: {len(packed)}\nSHA256: {hashlib.sha256(packed).hexdigest()}\n\n")
    r = run({"/./Packages": ("text/plain", listed.encode()), "/Packages": ("text/plain", listed.encode()),
             "/./Packages.gz": ("application/gzip", gzip.compress(listed.encode())),
             "/./tiny_1.0_all.deb": ("application/octet-stream", packed),
             "/tiny_1.0_all.deb": ("application/octet-stream", packed)}, APT)
    assert (r.json["verdict"], r.json["stdout"]) == ("ok", "42\n"), r
