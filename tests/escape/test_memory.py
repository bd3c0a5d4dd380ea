"""Memory by every road: counted, ended or refused; the host's is back afterwards (the check around every test)."""

import pytest

from harness import run_js, run_py

LIMIT = 64 << 20
START = """\
import ctypes, mmap, os, socket, sys, time
libc = ctypes.CDLL(None, use_errno=True)
print('go', flush=True)
"""

ROADS = {
    "anonymous": "x = []\nfor _ in range(1024): x.append(bytearray(1 << 20))",
    "many processes": """
for _ in range(8):
    if os.fork() == 0: break
x = []
for _ in range(1024): x.append(bytearray(1 << 20))
""",
    "locked": """
for _ in range(1024):
    m = mmap.mmap(-1, 1 << 20)
    if libc.mlock(ctypes.c_void_p(ctypes.addressof(ctypes.c_char.from_buffer(m))), 1 << 20): m.write(b"x" * (1 << 20))
    globals().setdefault("keep", []).append(m)
""",
    "shared mapping": "m = mmap.mmap(-1, 1 << 30)\nfor i in range(0, 1 << 30, 4096): m[i] = 1",
    "files in memory": """
try: fd = os.memfd_create("x")
except OSError: sys.exit(77)
for _ in range(1024): os.write(fd, b"x" * (1 << 20))
""",
    "files": "f = open('big', 'wb')\nwhile True: f.write(b'x' * (1 << 20))",
    "shared memory": "f = open('/dev/shm/big', 'wb')\nwhile True: f.write(b'x' * (1 << 20))",
    "page tables": """
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t] + [ctypes.c_int] * 3 + [ctypes.c_long]
for _ in range(8):
    a = libc.mmap(None, 1 << 36, 1, 0x4022, -1, 0)
    if a in (None, ctypes.c_void_p(-1).value): sys.exit(77)
    libc.madvise(ctypes.c_void_p(a), ctypes.c_size_t(1 << 36), 15)
    for i in range(0, 1 << 36, 2 << 20): ctypes.c_ubyte.from_address(a + i).value
""",
    "pipes": """
import fcntl
keep = []
for _ in range(5000):
    try: r, w = os.pipe()
    except OSError:
        if os.fork(): time.sleep(60)
        keep.clear(); continue
    keep.append((r, w))
    try: fcntl.fcntl(w, 1031, 1 << 20)
    except OSError: pass
    os.set_blocking(w, False)
    try:
        while True: os.write(w, b"x" * 65536)
    except OSError: pass
""",
    "sockets": """
keep = []
for _ in range(5000):
    try: a, b = socket.socketpair()
    except OSError:
        if not keep or os.fork(): time.sleep(60) if keep else sys.exit(77)
        keep = [None]; continue
    keep.append((a, b))
    a.setblocking(False)
    a.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 24)
    try:
        while True: a.send(b"x" * 65536)
    except OSError: pass
""",
    "descriptors in flight": """
import array
keep = []
try: socket.socketpair()
except OSError: sys.exit(77)
for _ in range(20):
    a, b = socket.socketpair()
    keep.append((a, b)); a.setblocking(False)
    try:
        while True: a.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS,
                                        array.array("i", [os.open("/dev/null", 0)] * 250))])
    except OSError: pass
sys.exit(77)
""",
    "epoll and timers": """
keep = []
try:
    while True: keep.append((os.eventfd(0), __import__("select").epoll()))
except OSError: sys.exit(77)
""",
    "stack": """
sys.setrecursionlimit(10**9)
import threading
threading.stack_size(1 << 29)
def f(): f()
t = threading.Thread(target=f); t.start(); t.join()
sys.exit(77)
""",
}


@pytest.mark.parametrize("road", ROADS)
def test_memory_is_bounded(needs, road):
    """77 is the program's own word for "I was refused before it got that far"."""
    needs("memory")
    result = run_py(START + ROADS[road], memory=LIMIT, disk="1g", timeout="20s", cpu_time="60s", cpu_percent=200,
                    within=90)
    assert result.stdout == "go\n", result
    ended = result.verdict == "memory_limit" and result.status == 137 and "memory" in result.hits
    refused = result.json["exit_code"] in (77, 1) or result.json["signal"] == "SIGSEGV"
    bounded = result.verdict == "timeout" and road in ("pipes", "sockets")
    assert ended or refused or bounded, result
    assert result.usage["memory_peak_bytes"] <= LIMIT + (1 << 20), result.usage


@pytest.mark.parametrize("road", ["anonymous", "files", "shared memory", "page tables", "pipes"])
def test_memory_hogs_are_ended_by_their_limit(needs, road):
    """Where nothing else refuses first, the verdict is the memory's."""
    needs("memory", "disk")
    result = run_py(START + ROADS[road], memory=LIMIT, disk="1g", timeout="20s", cpu_time="60s", cpu_percent=200,
                    within=90)
    if road in ("page tables", "pipes") and result.verdict != "memory_limit":
        pytest.skip(f"refused before the limit: {result.verdict}, {result.json['exit_code']}")
    assert (result.verdict, result.status) == ("memory_limit", 137), result


def test_huge_pages_are_not_to_be_had():
    result = run_py(START + """
libc.mmap.restype = ctypes.c_void_p
for flags in (0x40022, 0x40022 | 21 << 26, 0x40022 | 30 << 26):
    a = libc.mmap(None, 1 << 30, 3, flags, -1, 0)
    print(a in (None, ctypes.c_void_p(-1).value))
""")
    assert result.stdout == "go\nTrue\nTrue\nTrue\n", result


def test_no_swap_is_given(needs):
    """R3.1: memory is memory. Pages that do not fit are not moved to the swap of the host."""
    needs("memory")
    result = run_js("const x = []; for (let i = 0; i < 200; i++) x.push(Buffer.alloc(1 << 20, i)); console.log('fits')",
                    memory="128m")
    assert result.verdict == "memory_limit", result


def test_memory_of_a_run_does_not_leak_into_the_next(needs):
    """Twenty runs that each fill their file system: the host is where it was (checked around the test)."""
    needs("memory")
    for _ in range(20):
        result = run_py("open('f', 'wb').write(b'x' * (30 << 20))", disk="32m", memory="128m")
        assert result.verdict == "ok", result
