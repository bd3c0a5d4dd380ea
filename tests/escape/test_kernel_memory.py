"""Kernel memory by every road: how much of the host's memory a jar takes beyond its account, seen from the host.

tests/tools/hoard.c holds objects of one class. The host's own counters say how much kernel memory there is more than
before, and the cgroup says how much of that is on the jar's account. The difference is beyond the account. Datagrams of
UDP are slabs; buffers of TCP are pages, and a part of them counts twice, as memory of sockets and as slabs. Other
programs of this machine make noise, so the best of a few tries counts.
"""

import glob
import os
import re
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime

import pytest

import harness
from harness import eventually
from hostview import descendants
from service import Service, in_threads

MIB = 1 << 20
MEMORY = 64 * MIB
BOUND = 16 * MIB
TRIES = 5
SOAK = os.environ.get("BELLJAR_TEST_SOAK") == "1"  # with the bounds on time that hold on a quiet machine
WATCHED = {"accept_queues": "256 connections that no process accepted", "records": "2048 file locks",
           "flocks": "2048 file locks", "dead_flocks": "2048 file locks", "tcp_pairs": "4096 TCP sockets",
           "tcp_drops": "8 MiB in the buffers of its sockets"}
# class: how many objects to take; without any defence each class is below 1 GB
CLASSES = {
    # sockets
    "accept_queues": 100000, "accept_data": 4000, "time_wait": 20000, "tcp_pairs": 4000, "tcp_data": 40,
    "tcp_drops": 1900, "udp_data": 900,
    "destinations": 20000, "unix_data": 400, "in_flight": 60000, "unix_sockets": 40000, "tcp_sockets": 3000,
    # locks
    "records": 200000, "flocks": 40000, "dead_flocks": 58000,
    # objects behind a descriptor
    "pipes": 20000, "eventfds": 58000, "timerfds": 58000, "signalfds": 58000, "epoll_sets": 58000, "open_files": 58000,
    "owned_files": 58000, "proc_files": 58000, "pidfds": 8000, "memfds": 20000, "terminals": 4000,
    # objects without one
    "epoll_items": 200000, "timers": 100000, "signals": 100000, "sysv": 4000, "undos": 30000, "polls": 60,
    "futexes": 60,
    # memory
    "mappings": 60000, "named_mappings": 60000, "page_tables": 30000, "shared_mappings": 60000,
    # names and files
    "files": 9000, "symlinks": 9000, "acls": 9000, "attributes": 9000, "fifos": 9000, "missing_in_usr": 150000,
    "missing_in_tmp": 150000, "missing_in_proc": 150000,
}
LONG = {"wall_ms": int(30000 * harness.PATIENCE)}
SHARERS = {"sharers-60": 60, "sharers-480": 480}  # processes that share 200 MB: they take long to die
PAGE = os.sysconf("SC_PAGE_SIZE")
KERNEL = ("SUnreclaim", "PageTables", "KernelStack", "Percpu")
# Classes of files and names, which the kernel counts as SReclaimable. Every other program makes such, too.
RECLAIMABLE = ("pipes", "pidfds", "memfds", "proc_files", "sysv", "files", "symlinks", "acls", "attributes", "fifos",
               "missing_in_usr", "missing_in_tmp", "missing_in_proc")


def buffers():
    """Bytes in the buffers of all TCP sockets of the host."""
    with open("/proc/net/sockstat") as f:
        return int(re.search(r"^TCP:.* mem (\d+)", f.read(), re.M)[1]) * PAGE


def kernel_bytes(name):
    """Bytes that the kernel of the host has for itself, for all programs together."""
    with open("/proc/meminfo") as f:
        rows = dict(line.split(":") for line in f)
    keys = KERNEL + (("SReclaimable",) if name in RECLAIMABLE else ())
    return sum(int(rows[k].split()[0]) * 1024 for k in keys) + buffers()


def number(path):
    try:
        with open(path) as f:
            return int(f.read())
    except OSError:
        return 0


def on_account(pid):
    """Kernel memory that the cgroups of this command's jars are charged for. None: no process is in them."""
    total, alive = 0, False
    for path in glob.glob(f"/sys/fs/cgroup/**/belljar-{pid}-*/jar-*", recursive=True):
        alive = alive or number(f"{path}/pids.current") > 1
        total += number(f"{path}/memory.kmem.usage_in_bytes")  # buffers of sockets are on another account there
        try:
            with open(f"{path}/memory.stat") as f:
                stat = dict(line.split() for line in f)
        except OSError:
            continue
        total += int(stat.get("kernel", 0)) + int(stat.get("sock", 0))
    return total if alive else None


class Hoard:
    """One run of hoard: the most that it took beyond its account, and how it ended."""

    def __init__(self, name, timeout_ms=6000, hold_ms=150, before_ms=0, **opts):
        opts = {"memory": MEMORY, "timeout": f"{timeout_ms}ms", "cpu_time": "60s", "pids": 64, **opts}
        count = SHARERS[name] if name in SHARERS else CLASSES[name]
        command = f"exec ./hoard {name.split('-')[0]} {count} {hold_ms} {before_ms}"
        before, self.beyond = kernel_bytes(name), 0
        with harness.start(command, "bash", file=[harness.tool("hoard")], **opts) as running:
            while running.popen.poll() is None:
                account = on_account(running.pid)
                if account is not None:
                    self.beyond = max(self.beyond, kernel_bytes(name) - before - account)
                time.sleep(0.005)
            self.result = running.finish()
        self.verdict = self.result.verdict
        wall_ms = self.result.usage["wall_ms"]
        self.late_ms = wall_ms - timeout_ms if self.verdict == "timeout" else None
        self.held = self.result.stdout.removeprefix("held ").strip()

    def row(self, name):
        late = "-" if self.late_ms is None else f"{self.late_ms:.0f} ms late"
        return f"{name:16} {self.held or '-':>7} held {self.beyond / MIB:7.1f} MiB beyond  {self.verdict:12} {late}"


def best_of_some(name, capsys, timeout_ms=6000, **opts):
    """The tries end with the first one within the bound. An emulated processor needs longer to make the objects."""
    tries, opts = [], {"timeout_ms": int(timeout_ms * harness.PATIENCE), **opts}
    while len(tries) < TRIES and (not tries or tries[-1].beyond > BOUND):
        tries.append(Hoard(name, **opts))
    best = min(tries, key=lambda h: h.beyond)
    with capsys.disabled():
        print("\n" + best.row(name), flush=True)
    return best


@pytest.fixture
def host_counters(needs, sealed):
    needs("memory")
    if not os.access("/proc/slabinfo", os.R_OK):
        pytest.skip("only root can read the counters of the kernel's memory")


@pytest.mark.release_only
@pytest.mark.parametrize("name", CLASSES)
def test_kernel_memory_beyond_the_account_is_bounded(host_counters, name, capsys):
    best = best_of_some(name, capsys)
    assert best.beyond <= BOUND, best.row(name)


@pytest.mark.release_only
def test_kernel_memory_is_bounded_for_a_program_that_slept(host_counters, capsys):
    """The warden looks less often at a jar that sleeps, and notices when it begins to work."""
    best = best_of_some("accept_data", capsys, before_ms=700, timeout_ms=7000)
    assert best.verdict == "memory_limit" and best.beyond <= BOUND, best.row("accept_data")


def test_classes_of_kernel_objects_that_no_jar_can_make(sealed):
    result = harness.run("exec ./hoard refused 1 1", "bash", file=[harness.tool("hoard")])
    assert (result.verdict, result.stdout) == ("ok", "held 0\n"), result


@pytest.mark.release_only
@pytest.mark.parametrize("name", SHARERS if SOAK else ["sharers-60"])
def test_processes_that_share_memory_are_killed_at_their_deadline(host_counters, name, capsys):
    """Prints how late they were gone. The load of the machine decides that too, so only a hang is too late."""
    h = Hoard(name, timeout_ms=4000, hold_ms=0, memory="2g", pids=SHARERS[name] + 8)
    with capsys.disabled():
        print("\n" + h.row(name), flush=True)
    assert (h.verdict, h.result.hits) == ("timeout", ["wall_ms"]), h.row(name)
    assert h.late_ms <= (100 if SOAK else 20000), h.row(name)


if SOAK:  # a busy machine is late
    @pytest.mark.release_only
    @pytest.mark.parametrize("name", [c for c in CLASSES if c not in WATCHED])
    def test_jar_with_many_kernel_objects_is_gone_at_its_deadline(host_counters, name, capsys):
        h = Hoard(name, timeout_ms=2500, hold_ms=0)
        with capsys.disabled():
            print("\n" + h.row(name), flush=True)
        assert h.late_ms is None or h.late_ms <= 100, h.row(name)


def share_of_our_directory(pid):
    """The share of the CPUs of this service; 1 is the default. None: it has no such cgroup."""
    for hierarchy, file, default in (("cpu", "cpu.shares", 1024), (".", "cpu.weight", 100)):
        for path in glob.glob(f"/sys/fs/cgroup/{hierarchy}/**/belljar-{pid}-*/{file}", recursive=True):
            return number(path) / default
    return None


def end_of_sharers(s, children):
    """A run of processes that share memory: how long before its deadline it was killed in seconds, the largest share of
    the CPUs, and the verdict. The tables of pages of 100 processes take the kernel a quarter of a second, and more than
    half of one on a busy machine."""
    sharers = f"""
import mmap, os, time
shared = mmap.mmap(-1, 160 << 20)
for i in range(0, len(shared), 4096): shared[i] = 1
for child in range({children}):
    if os.fork() == 0:
        shared.madvise(22)  # MADV_POPULATE_READ
        time.sleep(60)
time.sleep(60)
"""
    limits = {"wall_ms": 8000, "cpu_ms": 60000, "memory": 1 << 30, "pids": children + 8}
    with ThreadPoolExecutor() as pool:
        run, most, killed = pool.submit(s.run, sharers, limits=limits), 1, 0
        while not run.done():
            most = max(most, share_of_our_directory(s.pid) or 1)
            killed = killed or (time.time() if most > 1 else 0)
            time.sleep(0.001)
    result = run.result()
    started = datetime.fromisoformat(result["started_at"].replace("Z", "+00:00")).timestamp()
    return started + 8 - killed, most, result["verdict"]


def test_jar_that_dies_slowly_is_killed_early_and_has_the_cpu_meanwhile(needs, sealed):
    """It is killed as early as a busy machine would need. It gives the CPU back. A busy machine can be late: one of
    three tries in time proves the early kill."""
    needs("memory")
    with Service() as s:
        if share_of_our_directory(s.pid) is None:
            pytest.skip("no cgroup of this service has a share of the CPUs")
        assert share_of_our_directory(s.pid) == 1
        tries = []
        while len(tries) < 3 and not any(0.4 < by < 4 for by, _, _ in tries):
            tries.append(end_of_sharers(s, 100))
            assert eventually(lambda: share_of_our_directory(s.pid) == 1), share_of_our_directory(s.pid)
    early = [t for t in tries if 0.4 < t[0] < 4]
    assert early and early[0][1] in (100, 256) and early[0][2] == "timeout", tries


@pytest.mark.release_only
@pytest.mark.parametrize("name", WATCHED)
def test_hoard_of_kernel_objects_ends_the_run_and_is_named(host_counters, name):
    """Without its watch the run would sleep until its timeout."""
    if name == "tcp_drops" and not os.path.exists("/sys/fs/cgroup/memory/memory.kmem.tcp.usage_in_bytes"):
        pytest.skip("this machine has cgroup v2, where buffers are on the account of the jar")
    h = Hoard(name, timeout_ms=int(20000 * harness.PATIENCE))  # a busy machine needs longer to make them
    assert h.verdict == "memory_limit" and h.result.hits == ["memory"], h.result
    assert WATCHED[name] in h.result.json["diagnosis"]["message"], h.result.json["diagnosis"]


def test_hoard_of_locks_is_found_beside_neighbours(needs, sealed):
    """The child that counts the locks of one jar may end while the warden looks at another. It looks at a jar with a
    TCP socket every 25 ms, and at one that sleeps every 100 ms."""
    needs("memory")
    neighbour = "import socket, time\ns = socket.create_server(('127.0.0.1', 0))\ntime.sleep(4)\n"
    hoard = """
import fcntl, time
f = open("f", "w")
time.sleep(0.5)
for i in range(4000): fcntl.lockf(f, fcntl.LOCK_EX, 1, 2 * i)
time.sleep(20)
"""
    with Service() as s:
        *neighbours, found = in_threads([lambda: s.run(neighbour, limits=LONG)] * 3 +
                                        [lambda: s.run(hoard, limits=LONG)])
    assert [n["verdict"] for n in neighbours] == ["ok"] * 3, neighbours
    assert (found["verdict"], found["limits_hit"]) == ("memory_limit", ["memory"]), found


def test_locks_do_not_outlive_the_process_that_the_kernel_ascribes_them_to(sealed):
    """A process that shares its descriptors with another leaves its locks to it, and nobody counts them."""
    result = harness.run_py("""
import ctypes, fcntl, os
CLONE_FILES, SIGCHLD, libc = 0x400, 17, ctypes.CDLL(None, use_errno=True)
f = open("f", "w")
pid = libc.syscall({"x86_64": 56, "aarch64": 220}[os.uname().machine], CLONE_FILES | SIGCHLD, 0, 0, 0, 0)
if pid == 0:
    fcntl.lockf(f, fcntl.LOCK_EX)
    os._exit(0)
error = ctypes.get_errno()
if pid > 0: os.waitpid(pid, 0)
if os.fork() == 0:
    try: fcntl.lockf(f, fcntl.LOCK_EX | fcntl.LOCK_NB); print("free", pid, error)
    except BlockingIOError: print("a dead process has a lock")
    os._exit(0)
os.wait()
""")
    assert (result.verdict, result.stdout) == ("ok", "free -1 1\n"), result


@pytest.mark.parametrize("locks, verdict", [(2000, "ok"), (100, "ok")])
def test_honest_numbers_of_locks_and_connections_are_fine(sealed, locks, verdict):
    result = harness.run_py(f"""
import fcntl, socket, time
f = open("f", "w")
for i in range({locks}): fcntl.lockf(f, fcntl.LOCK_EX, 1, 2 * i)
server = socket.create_server(("127.0.0.1", 0), backlog=100)
clients = [socket.create_connection(server.getsockname()) for _ in range(100)]
ends = [server.accept()[0] for _ in clients]
for c in clients: c.sendall(b"x" * 10000)
time.sleep(0.3)
print(sum(len(e.recv(10000, socket.MSG_WAITALL)) for e in ends))
""", open_files=512)
    assert (result.verdict, result.stdout) == (verdict, "1000000\n"), result


def test_size_of_a_receive_buffer_cannot_be_chosen(sealed):
    """A connection that nobody accepts has the buffer of its listener, on nobody's account."""
    result = harness.run_py("""
import socket
for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
    s = socket.socket(socket.AF_INET, kind)
    before = s.getsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 26)
    print(s.getsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF) == before)
""")
    assert (result.verdict, result.stdout) == ("ok", "True\nTrue\n"), result


def test_network_of_a_jar_has_small_buffers_and_short_tables(needs, sealed):
    if os.geteuid() != 0:
        pytest.skip("only root can enter the network of a jar")
    names = ("tcp_rmem", "tcp_wmem", "tcp_max_tw_buckets", "tcp_max_syn_backlog", "tcp_congestion_control")
    files = [f"/proc/sys/net/ipv4/{name}" for name in names]
    with harness.start("sleep 30", "bash") as running:
        inside = eventually(lambda: [p.pid for p in descendants(running.pid) if p.comm == "sleep"])
        read = subprocess.run(["nsenter", "-t", str(inside[0]), "-n", "cat", *files], capture_output=True, text=True)
    assert read.stdout.split() == ["4096", "8192", "262144", "4096", "16384", "262144", "256", "128", "reno"], read


def test_network_of_a_jar_has_bounds_of_its_own(sealed):
    """The host's own are as before, and those of the jar hold for every listener."""
    with open("/proc/sys/net/core/somaxconn") as f:
        before = f.read()
    result = harness.run_py("""
import select, socket
server = socket.create_server(("127.0.0.1", 0), backlog=4096)
made = 0
while made < 1000:
    c = socket.socket(); c.setblocking(False)
    try: c.connect(server.getsockname())
    except BlockingIOError:
        if not select.select([], [c], [], 0.05)[1]: break
    c.close(); made += 1
print(made)
""")
    with open("/proc/sys/net/core/somaxconn") as f:
        assert f.read() == before
    if harness.KERNEL < (6, 6):  # its user namespace does not show this file
        assert "256 connections that no process accepted" in result.json["diagnosis"]["message"], result
        return
    assert result.verdict == "ok" and 100 <= int(result.stdout) <= 130, result
