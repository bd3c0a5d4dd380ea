"""A program installs a package by a preset, with the tool that people use (R4.2). The hosts of the presets are mirrors
in a namespace."""

import base64
import hashlib
import io
import json
import shutil
import subprocess
import tarfile
import zipfile

import pytest

from harness import ROOT
from service import Service
from sessions import create, execute, place
from test_network_sessions import Near
from tls import Authority
from world import PRIVATE, WORLD, World

pytestmark = pytest.mark.skipif(not ROOT, reason="it takes root to make the namespaces of the test")

# The commands of docs/network.md, with another package.
INSTALL = """
pip install --target /sandbox/lib -q tiny-pkg
PYTHONPATH=/sandbox/lib /usr/bin/python3 -c 'import tiny_pkg; print(tiny_pkg.ANSWER)'
"""
CELL = """
import subprocess, sys
subprocess.run([sys.executable, "-m", "pip", "install", "--target", "/sandbox/lib", "tiny-pkg"], check=True)
sys.path.insert(0, "/sandbox/lib")
"""
# Node has authorities of its own, so npm is told about ours.
NPM = """
npm install --silent --no-audit --no-fund --cafile /etc/ssl/certs/ca-certificates.crt tiny-pkg >/dev/null
node -p 'require("tiny-pkg")'
"""
# apt-get keeps everything beneath one directory, and gets the packages as the user of the jar.
APT = """
apt=/sandbox/apt
mkdir -p $apt/etc/apt $apt/var/lib/apt/lists/partial $apt/var/cache/apt/archives/partial $apt/var/lib/dpkg
touch $apt/var/lib/dpkg/status
echo 'deb [trusted=yes] http://deb.debian.org/debian bookworm main' >$apt/etc/apt/sources.list
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


def pypi():
    index = f'<a href="https://files.pythonhosted.org/files/{NAME}">{NAME}</a>'.encode()
    return {"/simple/tiny-pkg/": ("text/html", index), f"/files/{NAME}": ("application/octet-stream", wheel())}


def npm():
    packed = tar_of({"package/package.json": '{"name": "tiny-pkg", "version": "1.0.0", "main": "index.js"}',
                     "package/index.js": "module.exports = 42\n"})
    version = {"name": "tiny-pkg", "version": "1.0.0", "main": "index.js", "dist": {
        "tarball": "https://registry.npmjs.org/tiny-pkg/-/tiny-pkg-1.0.0.tgz",
        "integrity": "sha512-" + base64.b64encode(hashlib.sha512(packed).digest()).decode()}}
    about = {"name": "tiny-pkg", "dist-tags": {"latest": "1.0.0"}, "versions": {"1.0.0": version}}
    return {"/tiny-pkg": ("application/json", json.dumps(about).encode()),
            "/tiny-pkg/-/tiny-pkg-1.0.0.tgz": ("application/octet-stream", packed)}


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


def debian():
    packed, place = deb(), "pool/main/t/tiny/tiny_1.0_all.deb"
    listed = (f"Package: tiny\nVersion: 1.0\nArchitecture: all\nMaintainer: a <a@example.org>\nDescription: tiny\n"
              f"Filename: {place}\nSize: {len(packed)}\nSHA256: {hashlib.sha256(packed).hexdigest()}\n\n").encode()
    kind = subprocess.run(["dpkg", "--print-architecture"], check=True, capture_output=True, text=True).stdout.strip()
    sums = "".join(f" {hashlib.sha256(listed).hexdigest()} {len(listed)} main/binary-{k}/Packages\n"
                   for k in (kind, "all"))
    release = f"Codename: bookworm\nSuite: stable\nArchitectures: {kind} all\nComponents: main\nSHA256:\n{sums}"
    top = "/debian/dists/bookworm"
    return {f"/debian/{place}": ("application/octet-stream", packed),
            f"{top}/Release": ("text/plain", release.encode()),
            **{f"{top}/main/binary-{k}/Packages": ("text/plain", listed) for k in (kind, "all")}}


class Mirrors(World):
    """The hosts of the presets, by their names. The machine trusts their authority: /etc/ssl/certs has it."""

    HOSTS = "pypi.org", "files.pythonhosted.org", "registry.npmjs.org", "deb.debian.org"

    def __enter__(self):
        super().__enter__()
        tls = Authority(self.scratch).context(*self.HOSTS)
        trusted = self.scratch / "ca-certificates.crt"
        trusted.write_bytes((self.scratch / "test-authority.pem").read_bytes())
        subprocess.run([*self.prefix(), "mount", "--bind", str(trusted), "/etc/ssl/certs/ca-certificates.crt"],
                       check=True)
        answer = mirror({**pypi(), **npm()})

        def handler(c):
            with tls.wrap_socket(c, server_side=True) as s:
                answer(s)

        self.listen(443, handler)
        if shutil.which("dpkg"):
            self.listen(80, mirror(debian()))
        for name in self.HOSTS:
            self.name(name, WORLD)
        return self


@pytest.fixture(scope="module")
def service():
    with Mirrors() as w:
        with Service("--set", "network.max=@pypi,@npm,@debian", "--set", f"network.private={PRIVATE}", "--set",
                     "pools.max=1", prefix=w.prefix()) as s:
            yield s


def install(service, preset, script):
    r = service.run(script, language="bash", unix=True, within=200, network={"allow": [preset]},
                    limits={"memory": "1g", "disk": "256m", "pids": 256, "wall_ms": 100000, "cpu_ms": 100000})
    assert (r["verdict"], r["stdout"]) == ("ok", "42\n"), r
    return {(e["host"], e["port"], e["sni"], e["outcome"]) for e in r["network"]["log"]}


def needs(tool):
    return pytest.mark.skipif(not shutil.which(tool, path="/usr/bin:/bin"), reason=f"{tool} is not installed")


@needs("pip")
def test_pip_installs_a_package_by_the_preset_in_a_run_and_in_a_session(service):
    assert install(service, "@pypi", INSTALL) == {
        (name, 443, name, "closed") for name in ("pypi.org", "files.pythonhosted.org")}
    near = Near(service)
    session = create(near, network={"allow": ["@pypi"]}, limits={"memory": "512m", "disk": "256m"})
    r = execute(near, session, CELL)
    assert r["verdict"] == "ok", r
    assert execute(near, session, "import tiny_pkg; print(tiny_pkg.ANSWER)")["stdout"] == "42\n"
    assert near.patch(place(session), {"network": "none"}).status == 200
    assert execute(near, session, "print(tiny_pkg.ANSWER)")["stdout"] == "42\n"


@needs("npm")
def test_npm_installs_a_package_by_the_preset(service):
    seen = install(service, "@npm", NPM)
    assert {e[:3] for e in seen} == {("registry.npmjs.org", 443, "registry.npmjs.org")}, seen


@needs("apt-get")
def test_apt_get_downloads_a_package_by_the_preset(service):
    assert install(service, "@debian", APT) == {("deb.debian.org", 80, None, "closed")}
