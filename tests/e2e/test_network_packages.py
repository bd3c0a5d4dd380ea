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
from service import Service
from sessions import create, execute, place
from test_network_sessions import Near
from tls import Authority
from world import PRIVATE, WORLD, World

pytestmark = pytest.mark.skipif(not ROOT, reason="it takes root to make the namespaces of the test")

# The commands of docs/network.md, with another package.
INSTALL = b"""
pip install --target /sandbox/lib -q tiny-pkg
PYTHONPATH=/sandbox/lib /usr/bin/python3 -c 'import tiny_pkg; print(tiny_pkg.ANSWER)'
"""
CELL = """
import subprocess, sys
subprocess.run([sys.executable, "-m", "pip", "install", "--target", "/sandbox/lib", "tiny-pkg"], check=True)
sys.path.insert(0, "/sandbox/lib")
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
        kind, body = files.get(head.split()[1].decode().split("?")[0], (None, b""))
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


class Pypi(World):
    """The hosts of the preset, over TLS, by their names. The machine trusts their authority: /etc/ssl/certs has it."""

    HOSTS = "pypi.org", "files.pythonhosted.org"

    def __enter__(self):
        super().__enter__()
        tls = Authority(self.scratch).context(*self.HOSTS)
        trusted = self.scratch / "ca-certificates.crt"
        trusted.write_bytes((self.scratch / "test-authority.pem").read_bytes())
        subprocess.run([*self.prefix(), "mount", "--bind", str(trusted), "/etc/ssl/certs/ca-certificates.crt"],
                       check=True)
        index = f'<a href="https://{self.HOSTS[1]}/files/{NAME}">{NAME}</a>'.encode()
        answer = mirror({"/simple/tiny-pkg/": ("text/html", index),
                         f"/files/{NAME}": ("application/octet-stream", wheel())})

        def handler(c):
            with tls.wrap_socket(c, server_side=True) as s:
                answer(s)

        self.listen(443, handler)
        for name in self.HOSTS:
            self.name(name, WORLD)
        return self


@pytest.mark.skipif(not shutil.which("pip", path="/usr/bin:/bin"), reason="pip is not installed")
def test_pip_installs_a_package_by_the_preset_in_a_run_and_in_a_session():
    with Pypi() as w:
        with Service("--set", "network.max=@pypi", "--set", f"network.private={PRIVATE}", prefix=w.prefix()) as s:
            near = Near(s)
            room = {"memory": "512m", "disk": "256m", "pids": 64, "wall_ms": 100000, "cpu_ms": 100000}
            r = s.run(INSTALL.decode(), language="bash", unix=True, within=200, network={"allow": ["@pypi"]},
                      limits=room)
            assert (r["verdict"], r["stdout"]) == ("ok", "42\n"), r
            assert {(e["host"], e["sni"], e["outcome"]) for e in r["network"]["log"]} == {
                (name, name, "closed") for name in w.HOSTS}, r
            session = create(near, network={"allow": ["@pypi"]}, limits={"memory": "512m", "disk": "256m"})
            r = execute(near, session, CELL)
            assert r["verdict"] == "ok", r
            assert execute(near, session, "import tiny_pkg; print(tiny_pkg.ANSWER)")["stdout"] == "42\n"
            assert near.patch(place(session), {"network": "none"}).status == 200
            assert execute(near, session, "print(tiny_pkg.ANSWER)")["stdout"] == "42\n"


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
