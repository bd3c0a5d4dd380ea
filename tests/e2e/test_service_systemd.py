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
import sessions
from harness import PATIENCE, REPO, eventually
from service import Service

UNITS = Path(os.environ.get("BELLJAR_BUILD", REPO / "build/release")) / "packaging"
UNIT_TESTS = Path(os.environ.get("BELLJAR_BUILD", REPO / "build/release")) / "tests/unit"
# `systemd-analyze security` asks for these, and the service cannot have them. docs/operate.md has the reasons.
NEEDED = {
    "User=/DynamicUser=", "CapabilityBoundingSet=~CAP_SYS_ADMIN", "CapabilityBoundingSet=~CAP_SET(UID|GID|PCAP)",
    "CapabilityBoundingSet=~CAP_KILL", "RestrictNamespaces=~user", "RestrictNamespaces=~mnt",
    "RestrictNamespaces=~pid", "RestrictNamespaces=~net", "RestrictNamespaces=~ipc", "RestrictNamespaces=~uts",
    "RestrictNamespaces=~cgroup", "SystemCallFilter=~@mount", "SystemCallFilter=~@privileged",
    "SystemCallFilter=~@resources", "RestrictAddressFamilies=~AF_(INET|INET6)", "RestrictAddressFamilies=~AF_UNIX",
    "RestrictAddressFamilies=~AF_NETLINK", "ProtectControlGroups=", "Delegate=", "PrivateUsers=", "ProtectHostname=",
    "MemoryDenyWriteExecute=", "ProcSubset=", "RootDirectory=/RootImage=", "DeviceAllow=",
}
EXPOSURE = 3.0


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


class Delegated:
    """Delegate=yes: cgroups of the service, whose mode lets root make others without CAP_DAC_OVERRIDE. The root of a
    hierarchy of v1 may be read-only for its owner."""

    def __init__(self):
        own = [line.split(":", 2) for line in Path("/proc/self/cgroup").read_text().splitlines()]
        self.places = [Path("/sys/fs/cgroup", kinds) / path.lstrip("/") / f"belljar-test-{os.getpid()}"
                       for _, kinds, path in own if {"cpu", "cpuacct", "memory", "pids"} & set(kinds.split(","))]

    def __enter__(self):
        for place in self.places:
            place.mkdir(0o755)
        return [str(place / "cgroup.procs") for place in self.places]

    def __exit__(self, *_):
        assert eventually(lambda: all(self.removed(place) for place in self.places))

    @staticmethod
    def removed(place):
        try:
            for one in (*(x for x in place.glob("*") if x.is_dir()), place):
                one.rmdir()
        except FileNotFoundError:
            return True
        except OSError:
            return False
        return True


@pytest.fixture
def unit(systemd):
    """The service with exactly the rights that the unit leaves: its capabilities, no new privileges, no modes with the
    bits of RestrictSUIDSGID=, read-only files, no network but the inherited sockets."""
    if not harness.ROOT:
        pytest.skip("only root can have capabilities to give up")
    kept = ",".join("+" + c.removeprefix("CAP_").lower() for line in settings_of_unit("CapabilityBoundingSet")
                    for c in line.split())
    assert settings_of_unit("RestrictSUIDSGID") == settings_of_unit("NoNewPrivileges") == ["yes"]
    # ProtectSystem=strict, with StateDirectory=, RuntimeDirectory= and PrivateTmp=
    assert settings_of_unit("ProtectSystem") == ["strict"] and settings_of_unit("RuntimeDirectory") == ["belljar"]
    Path("/run/belljar").mkdir(0o700, exist_ok=True)
    enter = ('procs=$1; shift; for p in $procs; do echo $$ >"$p"; done;'
             "for d in /run/belljar /tmp; do mount --bind $d $d; done; mount -o remount,bind,ro /;"
             '! touch /usr/belljar-test 2>/dev/null; exec "$@"')
    with Delegated() as procs:
        systemd.before = ["unshare", "--net", "--mount", "bash", "-ec", enter, "bash", " ".join(procs),
                          "setpriv", "--no-new-privs", "--inh-caps=-all", f"--bounding-set=-all,{kept}",
                          *harness.deny("suid-sgid")]
        with Unit(systemd) as s:
            assert s.ready_line().endswith(" level=jar"), s.log()
            yield s


def rights_of(pid):
    status = dict(x.split(":\t", 1) for x in Path(f"/proc/{pid}/status").read_text().splitlines() if ":\t" in x)
    return int(status["CapEff"], 16), int(status["CapBnd"], 16)


@pytest.mark.release_only
def test_capabilities_and_network_of_the_unit_are_enough(unit):
    s = unit
    # CAP_CHOWN, CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH, CAP_FOWNER, CAP_SYS_CHROOT, CAP_SYS_PTRACE
    gone = sum(1 << bit for bit in (0, 1, 2, 3, 18, 19))
    for pid in (s.pid, s.half("warden").pid):
        assert not any(rights & gone for rights in rights_of(pid)), Path(f"/proc/{pid}/status").read_text()
    r = s.run("open('/dev/stdout', 'w').write(open('/dev/stdin').read())", stdin="by name")
    assert r["stdout"] == "by name", r
    assert eventually(lambda: s.run("print(1)")["start"] == "warm")
    cold = s.run("print(1)", read_only=False)
    assert (cold["start"], cold["stdout"]) == ("cold", "1\n"), cold
    assert s.run('#include <stdio.h>\nint main(void) { puts("c"); }', language="c")["stdout"] == "c\n"
    r = s.run("import os\nos.makedirs('d/e')\nopen('d/e/out', 'w').write('kept')\nos.symlink('/etc/passwd', 'd/link')",
              outputs=["d/e/out", "d/link"])
    assert [(f["name"], f["status"]) for f in r["files"]] == [("d/e/out", "ok"), ("d/link", "not_a_file")], r["files"]
    r = s.run("import time\nprint('x', flush=True)\ntime.sleep(60)", limits={"wall_ms": 1000, "memory": "64m"})
    assert r["verdict"] == "timeout" and "time.sleep(60)" in str(r["diagnosis"]), r
    bomb = "import os\nwhile True:\n    try:\n        os.fork()\n    except OSError:\n        pass"
    r = s.run(bomb, limits={"wall_ms": 2000, "pids": 64})
    assert r["success"] is False and r["usage"]["pids_peak"] > 32, r
    stages = [{"name": "one", "command": "echo made >f; sleep 1000 &"},
              {"name": "two", "command": "cat f; pgrep sleep"}]
    assert [x["stdout"] for x in s.run(stages=stages)["stages"]] == ["", "made\n"]
    refused = "import os\ntry:\n    os.chmod('.', 0o2755)\nexcept OSError as e:\n    print(e.errno)"
    assert s.run(refused)["stdout"] == "1\n"


@pytest.mark.release_only
def test_sessions_need_no_more_than_the_unit_has(unit):
    s = unit
    bash = sessions.create(s, "bash")
    assert s.put(f"/v1/sessions/{bash}/files/in/a.txt", b"given").status in (200, 201)
    assert sessions.output(s, bash, "cat in/a.txt; echo made >out; ln -s /etc/passwd link; mkfifo fifo") == "given"
    assert s.get(f"/v1/sessions/{bash}/files/out").body == b"made\n"
    for name, status in (("link", 409), ("in/../../x", 400), ("none", 404), ("fifo", 409)):
        assert s.get(f"/v1/sessions/{bash}/files/{name}").status == status, name
    listed = {f["path"] for f in s.get(f"/v1/sessions/{bash}/files").json["files"]}
    assert {"in/a.txt", "out", "link"} <= listed, listed
    python = sessions.create(s)
    assert sessions.value(s, python, "x = 41; x + 1") == "42"
    copy, = sessions.copies_of(s, python)
    sessions.sleep(s, python)
    assert sessions.value(s, python, "x + 2") == "43" and sessions.value(s, copy, "x") == "41"
    short = sessions.create(s, cell_limits={"wall_ms": 1000})
    assert sessions.execute(s, short, "while True: pass")["status"] != "ok"
    assert sessions.value(s, short, "1 + 1") == "2"
    # Root on the machine copies the state of this service, which has fewer rights.
    done = s.cli("backup", str(s.scratch / "backup"))
    assert done.status == 0 and (s.scratch / "backup" / "data" / "belljar.db").stat().st_size > 0, done


@pytest.mark.release_only
def test_service_of_the_unit_starts_again_and_takes_its_data_along(unit):
    s = unit
    assert s.run("print(1)")["stdout"] == "1\n"
    os.kill(s.half("keeper").pid, signal.SIGKILL)
    assert eventually(s.reachable)
    os.kill(s.half("warden").pid, signal.SIGKILL)
    assert eventually(lambda: s.post("/v1/runs", {"language": "python", "code": "print(2)"}).status == 200)
    runs, before = len(s.get("/v1/runs").json["runs"]), (s.state / "data").stat().st_uid
    s.stop()
    # The file that names the uid is lost, so the next keeper has another one.
    (s.state / "keeper").unlink()
    s.start()
    assert len(s.get("/v1/runs").json["runs"]) == runs
    owners = {p.lstat().st_uid for p in (s.state / "data", *(s.state / "data").rglob("*"))}
    assert len(owners) == 1 and before not in owners and 0 not in owners, owners
    assert s.run("print(3)")["stdout"] == "3\n"


@pytest.mark.release_only
@pytest.mark.parametrize("name", ["jar_files", "jar_live_files", "jar_mounts"])
def test_files_of_guests_are_as_safe_without_openat2(name):
    done = subprocess.run([*harness.deny("suid-sgid"), UNIT_TESTS / f"test_{name}"], capture_output=True, text=True,
                          timeout=60 * PATIENCE)
    assert done.returncode == 0 and "ok " in done.stdout, done


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
