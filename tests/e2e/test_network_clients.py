"""Programs of every kind reach the hosts of their network list with an empty environment (R4.2). The servers are real
ones: PostgreSQL, an ssh server, and a web server with a git repository."""

import base64
import glob
import shutil
import subprocess

import pytest

from harness import ROOT
from service import Service
from test_network_packages import mirror
from world import PRIVATE, WORLD, World

pytestmark = pytest.mark.skipif(not ROOT, reason="it takes root to make the namespaces of the test")

HOSTS = ("web", "db", "ssh")
MUSL = r"""
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
int main(void)
{
    struct addrinfo *a, hints = { .ai_socktype = SOCK_STREAM };
    static const char question[] = "GET /hello HTTP/1.0\r\n\r\n";
    char answer[4096] = "";
    size_t n = 0;
    if (getaddrinfo("web.example.org", "80", &hints, &a))
        return 2;
    int fd = socket(a->ai_family, a->ai_socktype, 0);
    if (connect(fd, a->ai_addr, a->ai_addrlen) || write(fd, question, strlen(question)) < 0)
        return 3;
    for (ssize_t k; n < sizeof answer - 1 && (k = read(fd, answer + n, sizeof answer - 1 - n)) > 0;)
        n += (size_t)k;
    puts(strstr(answer, "\r\n\r\n") + 4);
}
"""
NODE = "fetch('http://web.example.org/hello').then(r => r.text()).then(t => console.log(t))"
PYTHON = 'import urllib.request as u; print(u.urlopen("http://web.example.org/hello").read().decode())'
JAVA = 'public class Main { public static void main(String[] a) throws Exception { System.out.write(' \
       'new java.net.URL("http://web.example.org/hello").openStream().readAllBytes()); System.out.flush(); } }'
SSH = "ssh -T -o BatchMode=yes -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR -i key " \
      "root@ssh.example.org"
# Each prints "hello". The name is that of the program which must be installed.
CLIENTS = {
    "curl": "curl -sS http://web.example.org/hello",
    "git": "git clone -q http://web.example.org/repo.git r && cat r/greeting",
    "python3": f"python3 -c '{PYTHON}'",
    "node": f'node -e "{NODE}"',
    "psql": "psql -h db.example.org -U postgres -Atc \"select 'hello'\"",
    "ssh": SSH + " echo hello",
    "musl-gcc": "./musl",
    "java": "java -XX:+UseSerialGC Main.java",
}


def has_server(client):
    """The ssh server and PostgreSQL, where a client needs one."""
    if client == "psql":
        return bool(glob.glob("/usr/lib/postgresql/*/bin/initdb"))
    return client != "ssh" or bool(shutil.which("dropbear", path="/usr/sbin:/usr/bin"))


def repository(folder):
    """The files of a bare repository, as a web server without git shows them."""
    def git(*argv):
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@example.org", *argv], check=True,
                       capture_output=True, cwd=folder)

    git("init", "-q", "work")
    (folder / "work/greeting").write_text("hello\n")
    git("-C", "work", "add", "greeting")
    git("-C", "work", "commit", "-qm", "greet")
    git("clone", "-q", "--bare", "work", "repo.git")
    git("-C", "repo.git", "update-server-info")
    found = [p for p in (folder / "repo.git").rglob("*") if p.is_file()]
    return {f"/{p.relative_to(folder)}": ("application/octet-stream", p.read_bytes()) for p in found}


def start_postgres(w):
    (programs,) = glob.glob("/usr/lib/postgresql/*/bin/initdb")[:1]
    data = w.scratch / "pg"
    data.mkdir()
    shutil.chown(data, "nobody")
    as_nobody = ["setpriv", "--reuid=nobody", "--clear-groups"]
    subprocess.run([*as_nobody, programs, "-D", data, "-A", "trust", "-U", "postgres", "--no-sync"], check=True,
                   capture_output=True, cwd="/")
    with (data / "pg_hba.conf").open("a") as f:
        f.write("host all all 203.0.113.0/24 trust\n")
    w.start(*as_nobody, programs.replace("initdb", "postgres"), "-D", data, "-h", WORLD, "-k", "", "-F",
            until=b"ready to accept connections")


def start_ssh(w):
    """The server knows one key, of root in a mount namespace where /root is another directory."""
    for name in ("host", "client"):
        subprocess.run(["dropbearkey", "-t", "ed25519", "-f", w.scratch / name], check=True, capture_output=True)
    shown = subprocess.check_output(["dropbearkey", "-y", "-f", w.scratch / "client"], text=True)
    public = next(line for line in shown.splitlines() if line.startswith("ssh-"))
    w.inside(["mount", "-t", "tmpfs", "-o", "mode=700", "none", "/root"])
    w.inside(["sh", "-c", f"umask 077; mkdir /root/.ssh; echo '{public}' >/root/.ssh/authorized_keys"])
    w.start("dropbear", "-F", "-E", "-r", w.scratch / "host", "-p", f"{WORLD}:22", until=b"Not backgrounding")
    subprocess.run(["dropbearconvert", "dropbear", "openssh", w.scratch / "client", w.scratch / "key"], check=True,
                   capture_output=True)
    w.files["key"] = {"content": (w.scratch / "key").read_text()}


@pytest.fixture(scope="module")
def world():
    with World() as w:
        w.files = {"Main.java": {"content": JAVA}}
        w.listen(80, mirror({"/hello": ("text/plain", b"hello\n"), **repository(w.scratch)}))
        for host in HOSTS:
            w.name(f"{host}.example.org", WORLD)
        if has_server("psql"):
            start_postgres(w)
        if has_server("ssh"):
            start_ssh(w)
        if shutil.which("musl-gcc"):
            subprocess.run(["musl-gcc", "-static", "-x", "c", "-o", w.scratch / "musl", "-"], input=MUSL.encode(),
                           check=True)
            packed = base64.b64encode((w.scratch / "musl").read_bytes()).decode()
            w.files["musl"] = {"content": packed, "encoding": "base64", "executable": True}
        yield w


@pytest.fixture(scope="module")
def service(world):
    with Service("--set", "network.max=*.example.org:80,*.example.org:22,*.example.org:5432",
                 "--set", f"network.private={PRIVATE}", "--set", "pools.max=1", prefix=world.prefix()) as s:
        yield s


@pytest.mark.parametrize("client", CLIENTS)
def test_client_needs_no_variable(world, service, client):
    if not shutil.which(client, path="/usr/sbin:/usr/bin:/bin") or not has_server(client):
        pytest.skip(f"{client}, or its server, is not installed")
    files = {**world.files, "client": {"content": CLIENTS[client]}}
    r = service.run("chmod 600 key 2>/dev/null; exec env -i PATH=/usr/bin:/bin sh client", language="bash", unix=True,
                    within=100, files=files,
                    network={"allow": ["web.example.org:80", "db.example.org:5432", "ssh.example.org:22"]},
                    limits={"memory": "1g", "pids": 256, "wall_ms": 60000, "cpu_ms": 60000, "disk": "64m"})
    assert r["verdict"] == "ok" and r["stdout"].strip() == "hello", r
    assert {e["outcome"] for e in r["network"]["log"] if e["host"]} == {"closed"}, r
