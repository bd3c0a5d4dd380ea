"""Kernel memory by every road: how much of the host's memory a jar takes beyond its account, seen from the host.

tests/tools/hoard.c holds objects of one class. The host's own counters say how much kernel memory there is more than
before, and the cgroup says how much of that is on the jar's account. The difference is beyond the account. Other
programs of this machine make noise, so the best of three tries counts.
"""

import glob
import os
import re
import time

import pytest

import harness
from service import Service, in_threads

MIB = 1 << 20
MEMORY = 64 * MIB
SOAK = os.environ.get("BELLJAR_TEST_SOAK") == "1"  # all classes, with the bound that holds on a quiet machine
BOUND = 16 * MIB if SOAK else 64 * MIB  # a busy machine delays the warden, and so its looks
MAIN = ("accept_queues", "accept_data", "time_wait", "udp_data", "records", "flocks")
WATCHED = {"accept_queues": "256 connections that no process accepted", "records": "2048 file locks",
           "flocks": "2048 file locks"}
# class: how many objects to take (without any defence each class is below 1 GB), the caches of the kernel that they
# are in, and the row of the host's sockstat that counts their buffers
CLASSES = {
    "accept_queues": (100000, "TCP request_sock_TCP tcp_bind_bucket", "TCP"),
    "accept_data": (4000, "TCP request_sock_TCP tcp_bind_bucket", "TCP"),
    "time_wait": (20000, "tw_sock_TCP", "TCP"),
    "tcp_data": (40, "TCP", "TCP"),
    "udp_data": (900, "UDP", "UDP"),
    "unix_data": (400, "UNIX UNIX-STREAM", None),
    "in_flight": (60000, "filp", None),
    "records": (200000, "file_lock_cache", None),
    "flocks": (40000, "file_lock_cache filp", None),
    "pipes": (20000, "filp inode_cache kmalloc-1k kmalloc-cg-1k", None),
    "epolls": (200000, "eventpoll_epi eventpoll_pwq ep_head", None),
    "timers": (100000, "posix_timers_cache sigqueue kmalloc-256 kmalloc-cg-256", None),
    "signals": (100000, "sigqueue", None),
    "memfds": (20000, "filp shmem_inode_cache", None),
    "sysv": (4000, "filp shmem_inode_cache kmalloc-8k kmalloc-cg-8k kmalloc-256 kmalloc-cg-256", None),
    "mappings": (60000, "vm_area_struct maple_node vma_lock", None),
    "inodes": (9000, "shmem_inode_cache dentry", None),
}
# processes that share 200 MB: they take long to die
SHARERS = {"sharers-60": (60, "", None), "sharers-480": (480, "", None)}
PAGE = os.sysconf("SC_PAGE_SIZE")


def slabs():
    """Bytes in each cache of the host's kernel."""
    with open("/proc/slabinfo") as f:
        rows = [line.split() for line in f][2:]
    return {r[0]: int(r[2]) * int(r[3]) for r in rows}


def buffers(row):
    """Bytes in the buffers of all TCP or UDP sockets of the host."""
    with open("/proc/net/sockstat") as f:
        return int(re.search(rf"^{row}:.* mem (\d+)", f.read(), re.M)[1]) * PAGE


def kernel_bytes(caches, row):
    now = slabs()
    return sum(now.get(c, 0) for c in caches.split()) + (buffers(row) if row else 0)


def number(path):
    try:
        with open(path) as f:
            return int(f.read())
    except OSError:
        return 0


def on_account(pid):
    """Kernel memory that the cgroups of this command's jars are charged for."""
    total = 0
    for path in glob.glob(f"/sys/fs/cgroup/**/belljar-{pid}-*/jar-*", recursive=True):
        total += number(f"{path}/memory.kmem.usage_in_bytes")  # buffers of sockets are on another account there
        try:
            with open(f"{path}/memory.stat") as f:
                stat = dict(line.split() for line in f)
        except OSError:
            continue
        total += int(stat.get("kernel", 0)) + int(stat.get("sock", 0))
    return total


class Hoard:
    """One run of hoard: the most that it took beyond its account, and how it ended."""

    def __init__(self, name, timeout_ms=1500, **opts):
        count, caches, row = SHARERS[name] if name in SHARERS else CLASSES[name]
        opts = {"memory": MEMORY, "timeout": f"{timeout_ms}ms", "cpu_time": "60s", "pids": 64, **opts}
        before, self.beyond = kernel_bytes(caches, row), 0
        command = f"exec ./hoard {name.split('-')[0]} {count}"
        with harness.start(command, "bash", file=[harness.tool("hoard")], **opts) as running:
            while running.popen.poll() is None:
                taken = kernel_bytes(caches, row) - before
                self.beyond = max(self.beyond, taken - on_account(running.pid))
                time.sleep(0.005)
            self.result = running.finish()
        self.verdict = self.result.verdict
        wall_ms = self.result.usage["wall_ms"]
        self.late_ms = wall_ms - timeout_ms if self.verdict == "timeout" else None
        self.held = self.result.stdout.removeprefix("held ").strip()

    def row(self, name):
        late = "-" if self.late_ms is None else f"{self.late_ms:.0f} ms late"
        return f"{name:14} {self.held or '-':>7} held {self.beyond / MIB:7.1f} MiB beyond  {self.verdict:12} {late}"


def best_of_three(name, bound, capsys):
    """The tries end with the first one within the bound."""
    tries = []
    while len(tries) < 3 and (not tries or tries[-1].beyond > bound):
        tries.append(Hoard(name))
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
@pytest.mark.parametrize("name", CLASSES if SOAK else MAIN)
def test_kernel_memory_beyond_the_account_is_bounded(host_counters, name, capsys):
    best = best_of_three(name, BOUND, capsys)
    assert best.beyond <= BOUND, best.row(name)
    if SOAK and best.late_ms is not None:
        assert best.late_ms <= 100, best.row(name)


@pytest.mark.release_only
@pytest.mark.parametrize("name", SHARERS if SOAK else ["sharers-60"])
def test_processes_that_share_memory_are_killed_at_their_deadline(host_counters, name, capsys):
    """Prints how late they were gone. The load of the machine decides that too, so only a hang is too late."""
    h = Hoard(name, timeout_ms=3000, memory="2g", pids=SHARERS[name][0] + 8)
    with capsys.disabled():
        print("\n" + h.row(name), flush=True)
    assert (h.verdict, h.result.hits) == ("timeout", ["wall_ms"]) and h.late_ms < 20000, h.row(name)


@pytest.mark.release_only
@pytest.mark.parametrize("name", WATCHED)
def test_hoard_of_kernel_objects_ends_the_run_and_is_named(host_counters, name):
    """Without its watch the run would sleep until its timeout."""
    h = Hoard(name, timeout_ms=20000)  # a busy machine needs longer to make them
    assert h.verdict == "memory_limit" and h.result.hits == ["memory"], h.result
    assert WATCHED[name] in h.result.json["diagnosis"]["message"], h.result.json["diagnosis"]


def test_hoard_of_locks_is_found_beside_neighbours(needs, sealed):
    """The child that counts the locks of one jar may end while the warden looks at another. It looks at a jar with a
    TCP socket every 10 ms, and at one that sleeps every 100 ms."""
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
        *neighbours, found = in_threads([lambda: s.run(neighbour)] * 3 +
                                        [lambda: s.run(hoard, limits={"wall_ms": 30000})])
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
    assert result.verdict == "ok" and 100 <= int(result.stdout) <= 130, result
