"""Writes through the page cache (Dirty COW, Dirty Pipe CVE-2022-0847 and kin): the ways in are closed and the
read-only runtime is the same afterwards, inside and out."""

import ctypes
import hashlib
import mmap
import os

from harness import attack, let_through

VICTIM = "/usr/share/common-licenses/GPL-3"  # of Debian's base-files; nothing ends if it is damaged


def test_pipe_splicing_is_refused():
    found, _ = attack(f"""
r, w = os.pipe()
fd = os.open({VICTIM!r}, os.O_RDONLY)
off = ctypes.c_long(1)
found["splice"] = sys_call(275, fd, ctypes.byref(off), w, None, 1, 0)
found["tee"] = sys_call(276, r, w, 1, 0)
found["vmsplice"] = sys_call(278, w, ctypes.c_char_p(struct.pack("QQ", 0, 0)), 1, 0)
""")
    assert len(found) == 3 and not let_through(found), found


def test_runtime_cannot_be_changed_through_the_page_cache():
    """A write to a private mapping through /proc/self/mem stays private."""
    path = VICTIM
    code = f"""
import hashlib, mmap, threading
path = {path!r}
before = hashlib.sha256(open(path, "rb").read()).hexdigest()
f = open(path, "rb")
libc.mmap.restype = ctypes.c_void_p
address = libc.mmap(None, ctypes.c_size_t(4096), 1, 2, f.fileno(), ctypes.c_long(0))
stop = time.monotonic() + 1
def advise():
    while time.monotonic() < stop: libc.madvise(ctypes.c_void_p(address), 4096, 4)
t = threading.Thread(target=advise); t.start()
try:
    with open("/proc/self/mem", "r+b", buffering=0) as mem:
        while time.monotonic() < stop:
            mem.seek(address + 100); mem.write(b"BELLJAR!")
    found["mem"] = "written"
except OSError as e:
    found["mem"] = name_of(e.errno)
t.join()
found["shared"] = attempt(mmap.mmap, f.fileno(), 4096, mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_WRITE)
found["same"] = hashlib.sha256(open(path, "rb").read()).hexdigest() == before
found["hash"] = before
"""
    found, _ = attack(code)
    assert found["same"] and found["shared"].startswith("E"), found
    with open(os.path.realpath(path), "rb") as f:
        assert hashlib.sha256(f.read()).hexdigest() == found["hash"]


def test_copying_into_the_runtime_is_refused():
    found, _ = attack(f"""
src = os.open("main.py", os.O_RDONLY)
fd = os.open({VICTIM!r}, os.O_RDONLY)
found["copy_file_range"] = sys_call(326, src, None, fd, None, 10, 0)
found["sendfile"] = sys_call(40, fd, src, None, 10)
found["fallocate"] = sys_call(285, fd, 0, 0, 10)
found["ftruncate"] = sys_call(77, fd, 0)
found["fchmod"] = sys_call(91, fd, 0o777)
found["reopen"] = attempt(opened, f"/proc/self/fd/{{fd}}", os.O_WRONLY)
found["utime"] = attempt(os.utime, {VICTIM!r}, (0, 0))
""")
    assert not let_through(found), found


def cached_pages(path):
    """How many pages of the file are in the memory of the host."""
    with open(path, "rb") as f, mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ, flags=mmap.MAP_SHARED) as m:
        libc = ctypes.CDLL(None, use_errno=True)
        libc.mmap.restype = ctypes.c_void_p
        size = len(m)
        at = libc.mmap(None, ctypes.c_size_t(size), 1, 1, f.fileno(), ctypes.c_long(0))
        vector = (ctypes.c_ubyte * (-(-size // mmap.PAGESIZE)))()
        assert libc.mincore(ctypes.c_void_p(at), ctypes.c_size_t(size), vector) == 0
        libc.munmap(ctypes.c_void_p(at), ctypes.c_size_t(size))
    return sum(v & 1 for v in vector)


def test_no_jar_evicts_pages_of_the_host():
    """posix_fadvise(DONTNEED) on a file of /usr: success, and the pages stay."""
    with open(VICTIM, "rb") as f:
        f.read()
    before = cached_pages(VICTIM)
    assert before > 1
    found, _ = attack(f"""
fd = os.open({VICTIM!r}, os.O_RDONLY)
os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
found["done"] = True
""")
    assert found == {"done": True} and cached_pages(VICTIM) == before
