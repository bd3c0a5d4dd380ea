"""Everything that a run could leave on the host: processes, mounts, cgroups, temporary files, memory, changed files.

`Host()` is the host now. `assert_unharmed(before)` compares and waits a little, because the kernel frees some objects
a moment after their last user is gone. The mark in the environment of our commands tells them from the runs of other
people on the same machine.
"""

import contextlib
import glob
import hashlib
import os
import re
import shutil
import signal
import tempfile
import time
from functools import cached_property
from typing import NamedTuple

from harness import BELLJAR, JAR_UIDS, MARK, PATIENCE, REPO, pooling, started

MEMORY_TOLERANCE = 64 << 20
READ_ONLY_FILES = ("/usr/bin/python3", "/bin/bash")
BESIDE_OTHERS = "PYTEST_XDIST_WORKER" in os.environ
POOLS_OWN = ("jar-zygote", "jar-init", "jar-embryo")  # below a living service they come and go
own_service = None  # the number of one that stands by and keeps jars ready; see warm.py


class Process(NamedTuple):
    pid: int
    start: str
    ppid: int
    comm: str
    state: str
    uid: int
    depth: int  # how many pid namespaces it is in
    inner_pid: int
    exe: str


def slurp(path):
    try:
        with open(path, "rb") as f:
            return f.read()
    except OSError:
        return b""


def link(path):
    try:
        return os.readlink(path)
    except OSError:
        return ""


def process(pid):
    """The process, or None if it is gone."""
    stat = slurp(f"/proc/{pid}/stat").decode("utf-8", "replace")
    status = slurp(f"/proc/{pid}/status").decode("utf-8", "replace")
    uids = re.search(r"^Uid:\s+(\d+)", status, re.M)
    nspid = re.search(r"^NSpid:\s+(.*)$", status, re.M)
    if not stat or not uids or not nspid:
        return None
    comm = stat[stat.index("(") + 1 : stat.rindex(")")]
    rest = stat[stat.rindex(")") + 2 :].split()
    pids = nspid.group(1).split()
    return Process(int(pid), rest[19], int(rest[1]), comm, rest[0], int(uids.group(1)), len(pids), int(pids[-1]),
                   link(f"/proc/{pid}/exe"))


def processes():
    found = (process(int(p)) for p in os.listdir("/proc") if p.isdigit())
    return {p.pid: p for p in found if p}


def descendants(pid, table=None):
    """Every living process below `pid`, itself included."""
    table = processes() if table is None else table
    family = {pid} & table.keys()
    grown = True
    while grown:
        more = {p.pid for p in table.values() if p.ppid in family} - family
        family |= more
        grown = bool(more)
    return [table[p] for p in sorted(family)]


def is_belljar(p):
    return (
        p.comm.startswith("belljar")
        or os.path.basename(p.exe.removesuffix(" (deleted)")) == "belljar"
        or p.exe == os.path.realpath(BELLJAR)
    )


def ancestors(pid, table):
    while pid in table:
        yield pid
        pid = table[pid].ppid


def is_foreign(p, table):
    """Is this process part of somebody else's living run? One that nobody started any more counts as ours."""
    chain = [table[pid] for pid in ancestors(p.pid, table)]
    if any(MARK.encode() in slurp(f"/proc/{q.pid}/environ") for q in chain):
        return False
    top = max((i for i, q in enumerate(chain) if is_belljar(q) or q.depth > own_depth()), default=0)
    starter, exe = chain[top].ppid, chain[top].exe
    if is_belljar(chain[top]) and exe and exe.removesuffix(" (deleted)") != os.path.realpath(BELLJAR):
        return True  # another build of it
    return starter > 1 and starter not in set(ancestors(os.getpid(), table))


def own_depth():
    return process(os.getpid()).depth


def jar_processes():
    """Processes of runs that are ours or that nobody owns any more."""
    table, depth = processes(), own_depth()
    pooled = {p.pid for p in descendants(own_service, table)} if own_service else set()
    pooled |= {p.pid for pid in pooling for p in descendants(pid, table) if p.comm in POOLS_OWN}
    # An examiner replaces its readers. One whose examiner is gone is suspect.
    examiners = {p.pid for p in table.values() if p.comm == "belljar-exam"}
    pooled |= {p.pid for p in table.values() if p.comm == "belljar-reader" and p.ppid in examiners}
    suspects = [
        p
        for p in table.values()
        if p.state != "Z" and p.pid not in pooled
        and (is_belljar(p) or p.uid >= JAR_UIDS or p.depth > depth
             or b"USER=sandbox" in slurp(f"/proc/{p.pid}/environ"))
    ]
    return {(p.pid, p.start): p for p in suspects if not is_foreign(p, table)}


def cgroup_mounts():
    for line in slurp("/proc/self/mountinfo").decode().splitlines():
        left, right = line.split(" - ", 1)
        if right.split()[0] in ("cgroup", "cgroup2"):
            yield left.split()[4]


def cgroups():
    """Directories named belljar-* in every hierarchy, but those of somebody else's living run."""
    table, found = processes(), set()
    for top in cgroup_mounts():
        for path, names, _ in os.walk(top):
            for name in [n for n in names if n.startswith("belljar-")]:
                number = name.split("-")[1]
                members = members_of(os.path.join(path, name)) & table.keys() | {p.pid for p in namesake(name, table)}
                if not members and BESIDE_OTHERS and number.isdigit() and int(number) not in started:
                    continue  # an empty one, which the next belljar removes, of a test beside us
                if not members or not all(is_foreign(table[pid], table) for pid in members):
                    found.add(os.path.join(path, name))
    return found


def members_of(cgroup):
    texts = [slurp(os.path.join(path, "cgroup.procs")) for path, _, _ in os.walk(cgroup)]
    return {int(word) for text in texts for word in text.split()}


def namesake(name, table):
    """The process that a cgroup is named after, by number and start time: the kernel gives numbers out again."""
    _, number, *start = name.split("-")
    p = table.get(int(number)) if number.isdigit() else None
    return [p] if p and start in ([], [p.start]) else []


def temporary_files():
    places = {"/tmp", tempfile.gettempdir(), "/var/tmp", "/dev/shm"}
    found = {f for place in places for f in glob.glob(f"{place}/belljar-*")} | set(glob.glob("/dev/shm/*"))
    found = {f for f in found if not os.path.basename(f).startswith("belljar-test-")}  # the test runner's own
    table = processes() if found else {}
    return {f for f in found if not is_of_another_run(f, table) and not is_of_the_hosts_own_server(f, table)}


def is_of_another_run(path, table):
    """A directory of level process, named after its command, of somebody else's living run or of a test beside us."""
    number = os.path.basename(path).partition("-")[2].partition("-")[0]
    if not number.isdigit():
        return False
    pid = int(number)
    return is_foreign(table[pid], table) if pid in table else BESIDE_OTHERS and pid not in started


def is_of_the_hosts_own_server(path, table):
    """Shared memory of a database server outside of jars, which `belljar languages prepare` starts for a while."""
    return path.startswith("/dev/shm/") and any(
        p.comm == "postgres" and p.uid < JAR_UIDS and p.depth == own_depth()
        and path.encode() in slurp(f"/proc/{p.pid}/maps")
        for p in table.values())


def mounts():
    """But for those the kernel makes by itself when somebody looks there."""
    lines = slurp("/proc/self/mountinfo").decode("utf-8", "replace").splitlines()
    return {line for line in lines if line.split(" - ")[1].split()[0] not in ("tracefs", "binfmt_misc")}


# Memory that can outlive every process: pages of a tmpfs, objects of the kernel, counters of cgroups, stacks of threads
# and page tables that are not freed, and memory of drivers and filters.
OUTLIVES_PROCESSES = ("Shmem", "SUnreclaim", "Percpu", "KernelStack", "PageTables", "VmallocUsed")


def held_memory():
    """Bytes that a jar could leave behind. The memory of processes is not in them, so that a compiler that somebody
    runs beside the tests makes no difference."""
    info = dict(line.split(":", 1) for line in slurp("/proc/meminfo").decode().splitlines())
    return sum(int(info[name].split()[0]) << 10 for name in OUTLIVES_PROCESSES if name in info)


def fingerprint(path):
    return hashlib.sha256(slurp(path)).hexdigest()


class Host:
    """The host as it is now."""

    def __init__(self):
        self.processes = jar_processes()
        self.mounts = mounts()
        self.cgroups = cgroups()
        self.temporary = temporary_files()
        self.memory = held_memory()
        self.files = {f: fingerprint(f) for f in (*READ_ONLY_FILES, BELLJAR)}
        self.hostname = os.uname().nodename
        self.cores = set(glob.glob(str(REPO / "core*"))) | set(glob.glob("core*"))

    @cached_property
    def memory_peak(self):
        """The highest of several looks: the kernel frees some objects a moment late."""
        return max(self.memory, *(held_memory() for _ in range(3)))

    def harm_since(self, before):
        """The differences that are harm: key -> words."""
        harm = {("process", *key): f"process left: {p}" for key,
                p in self.processes.items() if key not in before.processes}
        harm |= {("mount", m): f"mount left: {m}" for m in self.mounts - before.mounts}
        harm |= {("mount", m): f"mount lost: {m}" for m in before.mounts - self.mounts}
        harm |= {("cgroup", c): f"cgroup left: {c}" for c in self.cgroups - before.cgroups}
        harm |= {("file", t): f"file left: {t}" for t in self.temporary - before.temporary}
        harm |= {("file", f): f"changed: {f}" for f in self.files if self.files[f] != before.files.get(f)}
        harm |= {("core", c): f"core dumped: {c}" for c in self.cores - before.cores}
        # Beside other tests it can be anybody's memory. Tests about memory run alone.
        if "PYTEST_XDIST_WORKER" not in os.environ and self.memory > before.memory_peak + MEMORY_TOLERANCE:
            harm["memory"] = f"memory not given back: {(self.memory - before.memory_peak) >> 20} MiB"
        if self.hostname != before.hostname:
            harm["hostname"] = f"hostname is now {self.hostname!r}"
        return harm


def settled(within=10):
    """The host once nothing of ours begins or ends any more: a service that another test holds may be filling its
    pools."""
    deadline = time.monotonic() + within
    now = Host()
    while now.processes and time.monotonic() < deadline:
        time.sleep(0.5)
        before, now = now, Host()
        if now.processes.keys() == before.processes.keys():
            break
    return now


def end_processes(pids):
    """A failed test does not spoil the next one: kills the processes that carry our mark, and those below them."""
    ours = {p.pid for pid in pids if MARK.encode() in slurp(f"/proc/{pid}/environ") for p in descendants(pid)}
    for pid in ours:
        with contextlib.suppress(OSError):
            os.kill(pid, signal.SIGKILL)


def remove_directories(paths):
    """The same for directories of level process that no process uses any more."""
    places = {link(f"/proc/{pid}/cwd") for pid in os.listdir("/proc") if pid.isdigit()}
    for path in paths:
        if os.path.basename(path).startswith("belljar-") and not any(place.startswith(path) for place in places):
            shutil.rmtree(path, ignore_errors=True)


def assert_unharmed(before, within=10.0):
    """Harm is a difference that is there at every look until the time is up. A difference that comes and goes belongs
    to another run."""
    deadline = time.monotonic() + within * PATIENCE
    lasting = None
    while True:
        harm = Host().harm_since(before)
        lasting = harm if lasting is None else {k: harm[k] for k in lasting if k in harm}
        if not lasting:
            return
        # Memory is the one thing that others on the machine use, too: it gets more time to be seen back.
        if time.monotonic() > deadline + (30 if set(lasting) == {"memory"} else 0):
            end_processes([k[1] for k in lasting if k[0] == "process"])
            remove_directories([k[1] for k in lasting if k[0] == "file"])
            raise AssertionError("the host is not as it was:\n  " + "\n  ".join(sorted(lasting.values())))
        time.sleep(0.1)
