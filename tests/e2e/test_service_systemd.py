"""`belljar serve` under systemd, without systemd: a test holds the sockets, hears the notices and reads the log. The
units themselves are judged by systemd-analyze."""

import json
import os
import shutil
import signal
import socket
import subprocess
from pathlib import Path

import pytest

import harness
from harness import PATIENCE, REPO, eventually
from service import Service

UNITS = Path(os.environ.get("BELLJAR_BUILD", REPO / "build/release")) / "packaging"
# `systemd-analyze security` asks for these, and the service cannot have them. docs/operate.md has the reasons.
NEEDED = {
    "User=/DynamicUser=", "CapabilityBoundingSet=~CAP_SYS_ADMIN", "CapabilityBoundingSet=~CAP_SET(UID|GID|PCAP)",
    "CapabilityBoundingSet=~CAP_SYS_PTRACE", "CapabilityBoundingSet=~CAP_(CHOWN|FSETID|SETFCAP)",
    "CapabilityBoundingSet=~CAP_(DAC_*|FOWNER|IPC_OWNER)", "CapabilityBoundingSet=~CAP_KILL",
    "CapabilityBoundingSet=~CAP_SYS_CHROOT", "RestrictNamespaces=~user", "RestrictNamespaces=~mnt",
    "RestrictNamespaces=~pid", "RestrictNamespaces=~net", "RestrictNamespaces=~ipc", "RestrictNamespaces=~uts",
    "RestrictNamespaces=~cgroup", "SystemCallFilter=~@mount", "SystemCallFilter=~@privileged",
    "SystemCallFilter=~@resources", "RestrictAddressFamilies=~AF_(INET|INET6)", "RestrictAddressFamilies=~AF_UNIX",
    "RestrictAddressFamilies=~AF_NETLINK", "ProtectControlGroups=", "Delegate=", "PrivateUsers=", "RestrictSUIDSGID=",
    "ProtectHostname=", "MemoryDenyWriteExecute=", "ProcSubset=", "RootDirectory=/RootImage=", "DeviceAllow=",
}
EXPOSURE = 3.8


class Systemd:
    """The other end of the protocols: two listening sockets, and the socket for notices."""

    def __init__(self, place):
        self.path, self.before = place / "notify", []
        self.notices = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.notices.bind(str(self.path))
        self.sockets = [socket.socket(), socket.socket(socket.AF_UNIX)]
        self.sockets[0].bind(("127.0.0.1", 0))
        self.sockets[1].bind(str(place / "listen"))
        for s in self.sockets:
            s.listen(64)
        self.port = self.sockets[0].getsockname()[1]

    def prefix(self):
        """A shell that becomes belljar: descriptors from 3 on, LISTEN_PID is its own pid, and JOURNAL_STREAM names the
        file that is its stderr."""
        first, second = (s.fileno() for s in self.sockets)
        script = (f'exec 3<&"$A" 4<&"$B"; export LISTEN_FDS=2 LISTEN_PID=$$ WATCHDOG_PID=$$;'
                  'export JOURNAL_STREAM=$(stat -L -c %d:%i /proc/self/fd/2); exec "$@"')
        return [*self.before, "env", f"A={first}", f"B={second}", "bash", "-c", script, "belljar"]

    def hears(self, word, within=20):
        """The next notice with this word; others are dropped."""
        self.notices.settimeout(within * PATIENCE)
        while True:
            text = self.notices.recv(4096).decode()
            if text.startswith(word):
                return text

    def drop(self):
        self.notices.setblocking(False)
        try:
            while True:
                self.notices.recv(4096)
        except BlockingIOError:
            pass

    def end(self):
        for s in (self.notices, *self.sockets):
            s.close()


@pytest.fixture
def systemd(public_path):
    them = Systemd(public_path)
    yield them
    them.end()


class Unit(Service):
    """A service whose listening sockets are inherited."""

    def __init__(self, them, watchdog_us=2_000_000):
        super().__init__(listen=(), prefix=them.prefix(),
                         environ={"NOTIFY_SOCKET": str(them.path), "WATCHDOG_USEC": str(watchdog_us)})
        self.them = them

    def start(self, wait=True):
        for s in self.them.sockets:
            os.set_inheritable(s.fileno(), True)
        popen, self_fds = subprocess.Popen, [s.fileno() for s in self.them.sockets]

        def with_sockets(*args, **how):
            return popen(*args, pass_fds=self_fds, **how)
        subprocess.Popen = with_sockets
        try:
            return super().start(wait)
        finally:
            subprocess.Popen = popen


def test_service_of_systemd_takes_its_sockets_and_tells_its_state(systemd):
    with Unit(systemd) as s:
        assert s.ports == [systemd.port], s.log()
        assert s.ready_line().endswith("level=" + systemd.hears("READY=1").split()[-1]), s.ready_line()
        assert s.run("print(1)")["stdout"] == "1\n"
        # Priorities of the journal
        line = s.ready_line()
        assert line.startswith("<6>"), line
        s.signal(signal.SIGHUP)
        assert "MONOTONIC_USEC=" in systemd.hears("RELOADING=1")
        assert systemd.hears("READY=1")
        # A restart: systemd holds the sockets, so a client that comes meanwhile waits for the next service.
        s.signal(signal.SIGTERM)
        assert systemd.hears("STOPPING=1")
        s.popen.wait(30 * PATIENCE)
        waiting = socket.create_connection(("127.0.0.1", systemd.port))
        waiting.sendall(b"GET /v1/health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        assert Path(systemd.path.parent / "listen").is_socket()
        s.start()
        waiting.settimeout(20 * PATIENCE)
        assert waiting.recv(64).startswith(b"HTTP/1.1 200")
        waiting.close()


def settings_of_unit(key):
    lines = (REPO / "packaging/systemd/belljar.service.in").read_text().splitlines()
    return [line.partition("=")[2] for line in lines if line.startswith(key + "=")]


@pytest.mark.release_only
def test_capabilities_and_network_of_the_unit_are_enough(systemd):
    """As the unit has it: these capabilities, no new privileges, no network but the inherited sockets."""
    if not harness.ROOT:
        pytest.skip("only root can have capabilities to give up")
    kept = ",".join("+" + c.removeprefix("CAP_").lower() for line in settings_of_unit("CapabilityBoundingSet")
                    for c in line.split())
    # ProtectSystem=strict, with StateDirectory=, RuntimeDirectory= and PrivateTmp=
    assert settings_of_unit("ProtectSystem") == ["strict"] and settings_of_unit("RuntimeDirectory") == ["belljar"]
    Path("/run/belljar").mkdir(0o700, exist_ok=True)
    read_only = ("for d in /run/belljar /tmp; do mount --bind $d $d; done; mount -o remount,bind,ro /;"
                 "! touch /usr/belljar-test 2>/dev/null; exec \"$@\"")
    systemd.before = ["unshare", "--net", "--mount", "bash", "-ec", read_only, "bash",
                      "setpriv", "--no-new-privs", "--inh-caps=-all", f"--bounding-set=-all,{kept}"]
    with Unit(systemd) as s:
        assert s.ready_line().endswith(" level=jar"), s.log()
        assert s.run("print(1)")["stdout"] == "1\n"
        assert s.run('#include <stdio.h>\nint main(void) { puts("c"); }', language="c")["stdout"] == "c\n"
        r = s.run("import time\nprint('x', flush=True)\ntime.sleep(60)", limits={"wall_ms": 1000, "memory": "64m"})
        assert r["verdict"] == "timeout", r
        session = s.post("/v1/sessions", {"language": "python"}).json["id"]
        assert s.post(f"/v1/sessions/{session}/exec", {"code": "1 + 1"}).json["result"]["text/plain"] == "2"
        assert s.post(f"/v1/sessions/{session}/fork", {}).status in (200, 201)
        os.kill(s.half("keeper").pid, signal.SIGKILL)
        assert eventually(s.reachable)
        s.restart()
        assert s.run("print(3)")["stdout"] == "3\n"


def test_watchdog_of_systemd_hears_nothing_from_a_service_whose_keeper_hangs(systemd):
    with Unit(systemd, watchdog_us=200_000) as s:
        systemd.hears("READY=1")
        systemd.hears("WATCHDOG=1")
        systemd.hears("WATCHDOG=1")
        keeper = s.half("keeper").pid
        # The supervisor resumes a keeper that is stopped. The freezer of cgroups stops it without a signal.
        with frozen(keeper):
            assert s.logged(" keeper.silent "), s.log()
            systemd.drop()
            assert s.logged(" keeper.silent "), s.log()
            systemd.notices.settimeout(1)
            with pytest.raises(TimeoutError):
                systemd.notices.recv(64)
        systemd.hears("WATCHDOG=1")
        assert s.run("print(2)")["stdout"] == "2\n"


class frozen:
    """A process that gets no time, and no signal."""

    def __init__(self, pid):
        self.pid = pid
        v1 = Path("/sys/fs/cgroup/freezer")
        self.v2 = not v1.is_dir()
        own = Path(f"/proc/{pid}/cgroup").read_text()
        line = next(x for x in own.splitlines() if (x.startswith("0::") if self.v2 else ":freezer:" in x))
        self.before = (Path("/sys/fs/cgroup") if self.v2 else v1) / line.split(":")[2].lstrip("/")
        self.place = self.before / f"belljar-test-{pid}"

    def __enter__(self):
        if not harness.ROOT or not os.access(self.before, os.W_OK):
            pytest.skip("no cgroup of the freezer can be made here")
        self.place.mkdir()
        (self.place / "cgroup.procs").write_text(str(self.pid))
        self.set(True)

    def set(self, on):
        name, word = ("cgroup.freeze", "01"[on]) if self.v2 else ("freezer.state", "FROZEN" if on else "THAWED")
        (self.place / name).write_text(word)

    def __exit__(self, *_):
        self.set(False)
        (self.before / "cgroup.procs").write_text(str(self.pid))
        assert eventually(self.removed)

    def removed(self):
        try:
            self.place.rmdir()
            return True
        except OSError:
            return False


def test_sockets_that_make_no_sense_are_refused(public_path):
    script = 'export LISTEN_FDS=1 LISTEN_PID=$$; exec 3</dev/null; exec "$0" serve --state "$1"'
    done = subprocess.run(["bash", "-c", script, harness.BELLJAR, str(public_path / "state")], capture_output=True,
                          text=True, timeout=60)
    assert done.returncode == 125 and "ListenStream=" in done.stderr, done


def test_log_goes_on_at_the_start_of_a_file_that_was_truncated():
    """Rotation by logrotate's copytruncate: the file has no hole, and nothing is written to the old place."""
    with Service() as s:
        assert s.log_path.stat().st_size > 0
        os.truncate(s.log_path, 0)
        s.signal(signal.SIGHUP)
        assert s.logged(" service.reloaded ")
        assert s.log_path.read_bytes()[:2] == b"20" and b"\0" not in s.log_path.read_bytes()


@pytest.mark.release_only
def test_units_are_valid_and_as_hardened_as_the_warden_allows(public_path):
    if not shutil.which("systemd-analyze"):
        pytest.skip("systemd-analyze is not installed")
    for name in ("belljar.service", "belljar.socket"):
        text = (UNITS / name).read_text()
        program = public_path / "usr/local/bin/belljar"
        program.parent.mkdir(parents=True, exist_ok=True)
        program.touch(0o755)
        text = text.replace("/usr/local/bin/belljar", str(program))
        (public_path / name).write_text("\n".join(x for x in text.splitlines() if not x.startswith("Documentation=")))
    found = subprocess.run(["systemd-analyze", "verify", "--man=no", str(public_path / "belljar.service"),
                            str(public_path / "belljar.socket")], capture_output=True, text=True, timeout=60)
    ours = [x for x in found.stderr.splitlines() if x.startswith("belljar") or "/belljar." in x]
    assert found.returncode == 0 and not ours, found
    judged = subprocess.run(["systemd-analyze", "security", "--offline=true", "--json=short", "--no-pager",
                             str(public_path / "belljar.service")], capture_output=True, text=True, timeout=60)
    rows = json.loads(judged.stdout)
    bad = {r["name"] for r in rows if r["set"] is False}
    assert bad <= NEEDED, bad - NEEDED
    total = subprocess.run(["systemd-analyze", "security", "--offline=true", "--no-pager",
                            f"--threshold={EXPOSURE * 10:.0f}", str(public_path / "belljar.service")],
                           capture_output=True, text=True, timeout=60)
    assert total.returncode == 0, total.stdout[-300:]
