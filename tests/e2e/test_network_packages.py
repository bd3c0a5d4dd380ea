"""A program installs a package by a preset, with the tool that people use (R4.2): the commands of docs/network.md, to
the letter. The hosts of the presets are mirrors in a namespace, with small packages of the same names."""

import base64
import hashlib
import io
import json
import re
import shlex
import shutil
import subprocess
import tarfile
import zipfile

import pytest

from harness import REPO, ROOT, belljar
from service import Service
from sessions import copies_of, create, end, execute, place
from test_network_sessions import Near
from tls import Authority
from world import PRIVATE, WORLD, World

pytestmark = pytest.mark.skipif(not ROOT, reason="it takes root to make the namespaces of the test")

DOCUMENT = (REPO / "docs" / "network.md").read_text().split("## Install packages")[1]
CERTIFICATES = "/etc/ssl/certs/ca-certificates.crt"
KEYRING = "[signed-by=/usr/share/keyrings/debian-archive-keyring.gpg]"
NAME = "requests-1.0-py3-none-any.whl"


def block(kind, word):
    """The block of the document with this word, to the letter."""
    (found,) = [b for b in re.findall(rf"```{kind}[^\n]*\n(.*?)```", DOCUMENT, re.DOTALL) if word in b]
    return found


def wheel():
    files = {"requests/__init__.py": "__version__ = '42'\n",
             "requests-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: requests\nVersion: 1.0\n",
             "requests-1.0.dist-info/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
             "requests-1.0.dist-info/RECORD": ""}
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
    return {"/simple/requests/": ("text/html", index), f"/files/{NAME}": ("application/octet-stream", wheel())}


def npm():
    packed = tar_of({"package/package.json": '{"name": "left-pad", "version": "1.0.0", "main": "index.js"}',
                     "package/index.js": "module.exports = (text, n) => text.padStart(n)\n"})
    version = {"name": "left-pad", "version": "1.0.0", "main": "index.js", "dist": {
        "tarball": "https://registry.npmjs.org/left-pad/-/left-pad-1.0.0.tgz",
        "integrity": "sha512-" + base64.b64encode(hashlib.sha512(packed).digest()).decode()}}
    about = {"name": "left-pad", "dist-tags": {"latest": "1.0.0"}, "versions": {"1.0.0": version}}
    return {"/left-pad": ("application/json", json.dumps(about).encode()),
            "/left-pad/-/left-pad-1.0.0.tgz": ("application/octet-stream", packed)}


def deb():
    """A package by hand: an ar archive of three files."""
    control = tar_of({"./control": "Package: jq\nVersion: 1.0\nArchitecture: all\nMaintainer: a <a@example.org>\n"
                                   "Description: jq\n"})
    packed = b"!<arch>\n"
    for name, body in (("debian-binary", b"2.0\n"), ("control.tar.gz", control),
                       ("data.tar.gz", tar_of({"./usr/share/jq/answer": "42\n"}))):
        head = f"{name:<16}{0:<12}{0:<6}{0:<6}{100644:<8}{len(body):<10}`\n"
        packed += head.encode() + body + b"\n" * (len(body) % 2)
    return packed


def debian():
    packed, place = deb(), "pool/main/j/jq/jq_1.0_all.deb"
    listed = (f"Package: jq\nVersion: 1.0\nArchitecture: all\nMaintainer: a <a@example.org>\nDescription: jq\n"
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
def world():
    with Mirrors() as w:
        yield w


@pytest.fixture(scope="module")
def service(world):
    with Service("--set", "network.max=@pypi,@npm,@debian", "--set", f"network.private={PRIVATE}", "--set",
                 "pools.max=1", prefix=world.prefix()) as s:
        yield Near(s)


def install(world, script, then=""):
    """Runs a block by the command in its first line. Returns the last line of its output, and its connections."""
    command, body = script.split("\n", 1)
    words = shlex.split(command.removeprefix("# "))
    assert words[:2] == ["belljar", "run"] and words[-1] == "install.sh", words
    r = belljar("run", "--local", "--json", "--allow-private", PRIVATE, "--env", f"npm_config_cafile={CERTIFICATES}",
                *words[2:-1], "-l", "bash", "-", stdin=(body + then).encode(), prefix=world.prefix(), within=200)
    assert r.json["verdict"] == "ok", r
    return r.stdout.splitlines()[-1], {(e["host"], e["port"], e["sni"], e["outcome"]) for e in r.json["network"]["log"]}


def needs(tool):
    return pytest.mark.skipif(not shutil.which(tool, path="/usr/bin:/bin"), reason=f"{tool} is not installed")


@needs("pip")
def test_pip_installs_a_package_by_the_preset(world):
    said, seen = install(world, block("bash", "pip install"))
    wanted = {(name, 443, name, "closed") for name in ("pypi.org", "files.pythonhosted.org")}
    assert (said, seen) == ("42", wanted)


@needs("npm")
def test_npm_installs_a_package_by_the_preset(world):
    """Node has authorities of its own, so npm is told about that of the mirror."""
    said, seen = install(world, block("bash", "npm install"))
    assert said == "  x" and {e[:3] for e in seen} == {("registry.npmjs.org", 443, "registry.npmjs.org")}, (said, seen)


@needs("apt-get")
def test_apt_get_downloads_a_package_by_the_preset(world):
    """The mirror has no key of Debian."""
    script = block("bash", "apt-get")
    assert KEYRING in script
    said, seen = install(world, script.replace(KEYRING, "[trusted=yes]"), "cat /sandbox/root/usr/share/jq/answer\n")
    assert said == "42" and seen == {("deb.debian.org", 80, None, "closed")}, (said, seen)


@pytest.mark.parametrize("kind,tool,prepare,show,answer", [
    pytest.param("python", "pip", "1", "import requests; print(requests.__version__)", "42", marks=needs("pip")),
    pytest.param("javascript", "npm", f"process.env.npm_config_cafile = '{CERTIFICATES}'",
                 "console.log(require('left-pad')('x', 3))", "  x", marks=needs("npm")),
])
def test_a_cell_installs_a_package_that_the_next_cells_have(service, kind, tool, prepare, show, answer):
    """Also without the network, and in a copy."""
    fields = json.loads(block("json", f'"{kind}"'))
    session = create(service, **fields)
    for code in (prepare, block(kind, f'"{tool}"')):
        r = execute(service, session, code)
        assert r["verdict"] == "ok", r
    assert execute(service, session, show)["stdout"] == answer + "\n"
    assert service.patch(place(session), {"network": "none"}).status == 200
    copy, = copies_of(service, session)
    for s in (session, copy):
        assert execute(service, s, show)["stdout"] == answer + "\n"
        end(service, s)
