"""Forks of Python sessions in jars: POST /v1/sessions/{id}/fork."""
import pytest
from harness import eventually
from service import Service
from sessions import create, end, end_sessions, execute, fork, images, open_sessions, value
from sessions import look as look_at

pytestmark = pytest.mark.release_only  # IPython starts cold there: every session would take seconds


@pytest.fixture(scope="module")
def service():
    with Service("--set", "runs.max=8", "--set", "pools.preload=python-session", "--set", "sessions.max=8") as s:
        yield s


@pytest.fixture(autouse=True)
def no_session_is_left(service):
    before = open_sessions(service)
    yield
    end_sessions(service, before)


STATE = """import os, random, secrets, tempfile
d = {i: str(i) for i in range(20000)}
g = (i * i for i in range(9)); next(g); next(g)
big = bytearray(20 << 20); big[5 << 20] = 5
os.mkdir('sub'); os.chdir('sub')
f = open('kept', 'w+'); _ = f.write('hello world'); f.flush(); _ = f.seek(6)
_ = open('/tmp/other', 'w').write('of tmp'); os.symlink('kept', 'link'); os.chmod('kept', 0o640)"""
LOOK = ("next(g), d[19999], big[5 << 20], f.read(), os.getcwd(), open('/tmp/other').read(), os.readlink('link'), "
        "oct(os.stat('kept').st_mode)")
SEEN = "(4, '19999', 5, 'world', '/sandbox/sub', 'of tmp', 'kept', '0o100640')"


def look(service, session):
    return " ".join(value(service, session, LOOK).split())


def test_a_fork_has_everything_and_shares_nothing(service):
    original = create(service, name="first", limits={"memory": "600m"}, metadata={"a": 1}, idle_s=300)
    value(service, original, STATE)
    made = fork(service, original, count=2, names=["second"])
    assert made["not_carried"] == [] and made["image_bytes"] > 5 << 20 and made["pause_ms"] > 0
    copies = [s["id"] for s in made["sessions"]]
    assert [s["name"] for s in made["sessions"]] == ["second", None]
    for s in made["sessions"]:
        assert (s["state"], s["idle_s"], s["metadata"], s["cells"]) == ("idle", 300, {"a": 1}, 0)
        assert s["limits"]["memory"] == 600 << 20
    for session in (copies[0], original, copies[1]):
        assert look(service, session) == SEEN, session
    value(service, copies[0], "d.clear(); big[5 << 20] = 9; _ = open('/sandbox/sub/kept', 'w').write('changed')\n"
                              "_ = open('/tmp/new', 'w').write('x')")
    for session in (original, copies[1]):
        assert value(service, session, "len(d), big[5 << 20], open('kept').read(), os.path.exists('/tmp/new')") == \
            "(20000, 5, 'hello world', False)"
    # Nothing in a copy depends on the original.
    assert service.delete(f"/v1/sessions/{original}").status == 200
    assert value(service, copies[1], "sum(big), len(d)") == "(5, 20000)"
    assert value(service, copies[1], "b = [bytes(n % 999) for n in range(100000)]; len(b)") == "100000"
    reply = service.post(f"/v1/sessions/{copies[1]}/restart")
    assert reply.status == 201 and execute(service, copies[1], "d")["error"]["name"] == "NameError"


def test_a_fork_of_a_fork_stores_only_the_bytes_that_differ(service):
    first = create(service, limits={"memory": "600m"})
    value(service, first, "import hashlib, os\nbig = os.urandom(40 << 20)\n"
                          "_ = open('data', 'wb').write(os.urandom(8 << 20))\n"
                          "def seen():\n    with open('data', 'rb') as f: kept = f.read()\n"
                          "    return [hashlib.sha256(b).hexdigest() for b in (big, kept)]")
    seen = value(service, first, "seen()")
    made = fork(service, first)
    assert made["image_bytes"] > 48 << 20
    second = made["sessions"][0]["id"]
    value(service, second, "more = os.urandom(1 << 20)")
    made = fork(service, second)
    assert made["image_bytes"] < 16 << 20, made
    third = made["sessions"][0]["id"]
    for session in (first, second):  # the images that the copy needs stay
        assert service.delete(f"/v1/sessions/{session}").status == 200
    assert value(service, third, "seen()") == seen
    value(service, third, "_ = open('data', 'r+b').write(b'changed')")  # its size stays
    changed = value(service, third, "seen()")
    fourth = fork(service, third)["sessions"][0]["id"]
    assert value(service, fourth, "seen()") == changed != seen


LARGE = """import ctypes, mmap
def heap():  # from, to, whether the kernel knows it as the heap up to its end, and parts that like huge pages
    parts, huge, inside = [], 0, False
    for words in map(str.split, open('/proc/self/smaps')):
        if words[0][-1] != ':':
            inside = words[-1] == '[heap]'
            parts += [int(w, 16) for w in words[0].split('-')] if inside else []
        else:
            huge += inside and words[0] == 'VmFlags:' and 'hg' in words
    end = ctypes.CDLL(None).syscall
    end.restype = ctypes.c_long
    return (parts[0], parts[-1], end(12, 0) == parts[-1], huge) if parts else None
def is_huge(text):  # whether the kernel knows that this memory likes huge pages
    at, inside = id(text) + len(text) // 2, False
    for words in map(str.split, open('/proc/self/smaps')):
        if words[0][-1] != ':':
            low, high = (int(w, 16) for w in words[0].split('-'))
            inside = low <= at < high
        elif inside and words[0] == 'VmFlags:':
            return 'hg' in words
written = b'x' * (40 << 20)
zeros = bytes(60 << 20)
_ = len(b'z' * (30 << 20))  # its end makes the C library take smaller objects from the heap
many = [bytes([i]) * (5 << 20) for i in range(9)]
del many[::2]
kept = mmap.mmap(-1, 1 << 20, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
kept[5000] = 7
kept.madvise(mmap.MADV_DONTFORK)"""


def test_large_objects_are_in_huge_pages_and_in_forks(service):
    """The pause of a fork is the time in which the kernel copies page tables. A huge page is one entry of them."""
    first = create(service, limits={"memory": "600m"})
    value(service, first, LARGE)
    assert value(service, first, "is_huge(written), is_huge(zeros)") == "(True, False)"
    # One mapping, or two in a program that was forked from a prepared one: the heap grew since.
    heap = value(service, first, "heap()")
    assert heap.endswith("True, 0)"), heap
    second = fork(service, first)["sessions"][0]["id"]
    # A program whose own heap is at another place has none: its C library takes other memory.
    assert value(service, second, "heap()") in (heap, None)
    for session in (first, second):  # also memory that the program keeps out of its own children
        assert value(service, session, "len(written.strip(b'x')), any(zeros), [m[0] for m in many], kept[5000]") == \
            "(0, False, [1, 3, 5, 7], 7)"


MAPPED = """import ctypes, os, numpy
mmap = ctypes.CDLL(None).mmap
mmap.restype, mmap.argtypes = ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_size_t] + 3 * [ctypes.c_int] + [ctypes.c_long]
def map_file(number):
    with open(f'/tmp/{number}', 'w+') as f:
        f.write(f'{number:05}' * 900)
        f.flush()
        return mmap(None, 4096, 1, 2, f.fileno(), 0)
def look():
    libraries = [line.split()[1] for line in open('/proc/self/maps') if '/libc.so' in line]
    texts = {ctypes.string_at(at + 5 * n, 5) == b'%05d' % n for n, at in enumerate(ats)}
    return libraries, int(numpy.arange(5).sum()), texts
ats = [map_file(n) for n in range(3)]
numbers = os.listdir('/proc/self/fd')"""


def test_libraries_and_files_of_a_copy_are_mapped_again(service):
    """A library is one mapping then. More files than may be open at once are no problem, and none stays open."""
    first = create(service)
    value(service, first, MAPPED)
    assert value(service, first, "look()") == "(['r--p', 'r-xp', 'r--p', 'r--p', 'rw-p'], 10, {True})"
    second = fork(service, first)["sessions"][0]["id"]
    assert value(service, second, "look()") == "(['r-xp'], 10, {True})"
    value(service, second, "ats += [map_file(n) for n in range(3, 600)]")
    third = fork(service, second)["sessions"][0]["id"]
    assert value(service, third, "look()[1:]") == "(10, {True})"
    for session in (second, third):
        assert value(service, session, "os.listdir('/proc/self/fd') == numbers") == "True"


RIGHTS = """import ctypes
libc = ctypes.CDLL(None, use_errno=True); libc.mmap.restype = ctypes.c_void_p
at = libc.mmap(None, 5 << 16, 3, 0x22, -1, 0)  # private and anonymous, readable and writable
ctypes.memset(at, 1, 5 << 16)
for n, rights in ((0, 0), (2, 1), (4, 0)):  # no neighbour outside of it is part of these mappings
    assert libc.mprotect(ctypes.c_void_p(at + (n << 16)), 1 << 16, rights) == 0
def rights(address):
    for line in open('/proc/self/maps'):
        start, end = (int(n, 16) for n in line.split()[0].split('-'))
        if start <= address < end:
            return line.split()[1]"""


def test_memory_of_a_program_keeps_its_rights_in_a_copy(service):
    """A collector of garbage may rely on a fault when memory is written that it made read-only."""
    first = create(service)
    value(service, first, RIGHTS)
    look = "[rights(at + (n << 16)) for n in range(5)], ctypes.string_at(at + (2 << 16), 2)"
    expected = "(['---p', 'rw-p', 'r--p', 'rw-p', '---p'], b'\\x01\\x01')"
    assert value(service, first, look) == expected
    assert value(service, fork(service, first)["sessions"][0]["id"], look) == expected


def test_random_sources_of_forks_differ(service):
    session = create(service, limits={"memory": "1g"})
    value(service, session, "import os, random, secrets, tempfile, uuid, ssl, numpy\n"
                            "def draw(): return [random.random(), numpy.random.rand(), secrets.token_hex(8), "
                            "tempfile.mktemp(), str(uuid.uuid4()), ssl.RAND_bytes(8).hex(), os.urandom(8).hex()]\n"
                            "_ = draw()")
    copies = [s["id"] for s in fork(service, session, count=4)["sessions"]]
    drawn = [eval(value(service, s, "draw()")) for s in (session, *copies)]
    for values in zip(*drawn):
        assert len(set(values)) == len(values), values


CELLS = ["import collections; c = collections.Counter('hello'); c.most_common(1)", "def f(n): return n * c['l']\nf(4)",
         "class A:\n    x = 1\na = A(); a.x += 1; a.x", "1 / 0", "it = iter(range(5)); next(it)", "next(it), f(2)",
         "import asyncio\nawait asyncio.sleep(0, 'slept')", "%who_ls", "!echo $PWD", "_, In[1][:6], len(Out)"]


def outcome(cell):
    error = cell["error"] or {}
    return cell["status"], cell["result"], cell["stdout"], error.get("message"), error.get("traceback")


def test_cells_go_on_exactly_in_a_fork(service):
    """A fork of a fork of a fork: each cell runs in another copy, with the outcome of a session that is not forked."""
    plain, moving = create(service), create(service)
    for code in CELLS:
        expected = outcome(execute(service, plain, code))
        before, moving = moving, fork(service, moving)["sessions"][0]["id"]
        assert service.delete(f"/v1/sessions/{before}").status == 200
        assert outcome(execute(service, moving, code)) == expected, code


def test_things_that_a_fork_cannot_carry_are_named_or_refused(service):
    session = create(service)
    value(service, session, "import os, socket, subprocess, threading\nr, w = os.pipe(); os.write(w, b'ab')\n"
                            "s = socket.socket(); p = subprocess.Popen(['sleep', '100'], stdin=subprocess.PIPE)\n"
                            "t = threading.Thread(target=threading.Event().wait, name='waiter', daemon=True)\n"
                            "t.start()")
    refused = service.post(f"/v1/sessions/{session}/fork", {"strict": True})
    assert refused.status == 409 and "a pipe (descriptor " in refused.error["message"], refused
    made = fork(service, session)
    text = "; ".join(made["not_carried"])
    for name in ("a pipe (descriptor ", "a socket (descriptor ", "the thread waiter", " (sleep)"):
        assert name in text, text
    copy = made["sessions"][0]["id"]
    assert value(service, copy, "t.is_alive(), os.listdir('/proc/self/task')") == "(False, ['2'])"
    assert value(service, session, "t.is_alive(), p.poll()") == "(True, None)"
    for one in (session, copy):  # a pipe with both ends in the session is carried, with its bytes
        assert value(service, one, "os.write(w, b'c'), os.read(r, 9)") == "(1, b'abc')"


WRITES = ("_ = db.execute('INSERT INTO t VALUES (?)', (n := n + 1,)); db.commit()\n"
          "db.execute('SELECT max(x) FROM t').fetchone()")


@pytest.mark.parametrize("mode", ["delete", "wal"])
def test_an_open_database_file_is_written_in_copies_after_a_rollback_and_a_wake(service, mode):
    """SQLite knows its files by their inode numbers, which are others in each copy."""
    session = create(service)
    value(service, session, "import os, sqlite3\nfor i in range(40): open(f'x{i}', 'w').close(); os.remove(f'x{i}')\n"
                            "n = 0; db = sqlite3.connect('f.db')\n"
                            f"_ = db.execute('PRAGMA journal_mode={mode}'), db.execute('CREATE TABLE t(x)')")
    assert value(service, session, WRITES) == "(1,)"
    made = fork(service, session)
    assert made["not_carried"] == []
    copy = made["sessions"][0]["id"]
    assert value(service, copy, WRITES) == "(2,)"
    second = "sqlite3.connect('f.db').execute('SELECT count(*) FROM t').fetchone()"
    grandchild = fork(service, copy, strict=True)["sessions"][0]["id"]
    assert value(service, grandchild, WRITES) == "(3,)" and value(service, grandchild, second) == "(3,)"
    assert service.post(f"/v1/sessions/{copy}/checkpoints", {"name": "c"}).status == 201
    assert value(service, copy, WRITES) == "(3,)"
    assert service.post(f"/v1/sessions/{copy}/rollback", {"to": "c"}).status == 200
    assert value(service, copy, WRITES) == "(3,)" and value(service, copy, second) == "(3,)"
    assert service.post(f"/v1/sessions/{copy}/sleep").status == 200
    assert value(service, copy, WRITES) == "(4,)"
    assert value(service, copy, second) == "(4,)"
    assert value(service, copy, "db.execute('PRAGMA integrity_check').fetchone()") == "('ok',)"


def test_names_holes_positions_limits_and_the_priority_are_carried(service):
    session = create(service)
    value(service, session, "import os, resource\n_ = open('a', 'w').write('x' * 9); os.link('a', 'b')\n"
                            "h = open('holes', 'wb'); _ = h.truncate(8 << 20); h.close()\n"
                            "f = os.open('a', os.O_RDWR); d = os.dup(f)\n"
                            "resource.setrlimit(resource.RLIMIT_NOFILE, (99, 120)); _ = os.nice(4)")
    look = ("os.path.samefile('a', 'b'), os.stat('a').st_nlink, os.stat('holes').st_size, os.stat('holes').st_blocks, "
            "os.lseek(f, 1, 1) - os.lseek(d, 0, 1), resource.getrlimit(resource.RLIMIT_NOFILE), os.nice(0)")
    seen = " ".join(value(service, session, look).split())
    assert seen == "(True, 2, 8388608, 0, 0, (99, 120), 4)"
    copy = fork(service, session, strict=True)["sessions"][0]["id"]
    assert " ".join(value(service, copy, look).split()) == seen
    again = fork(service, copy, strict=True)["sessions"][0]["id"]
    assert " ".join(value(service, again, look).split()) == seen


@pytest.mark.parametrize("body,field,says", [
    ({"count": 0}, "count", "1"), ({"count": 101}, "count", "100"), ({"count": "2"}, "count", "whole number"),
    ({"names": ["a", "b"]}, "names", "2 names for 1 copies"), ({"names": [""]}, "names", "1 to 200"),
    ({"nme": 1}, "nme", ""),
])
def test_a_bad_request_for_a_fork_names_the_field(service, body, field, says):
    session = create(service)
    reply = service.post(f"/v1/sessions/{session}/fork", body)
    assert reply.status == 400 and reply.error["field"] == field and says in reply.error["message"], reply
    assert value(service, session, "1 + 1") == "2"


def test_a_fork_that_is_not_possible_says_why_and_leaves_no_session(service):
    session = create(service)
    before = open_sessions(service)
    many = service.post(f"/v1/sessions/{session}/fork", {"count": 8})
    assert many.status == 503 and "sessions.max" in many.error["message"], many
    value(service, session, "x = bytearray(140 << 20)\nfor i in range(0, len(x), 4096): x[i] = 1")
    full = service.post(f"/v1/sessions/{session}/fork")
    assert full.status == 409 and "room for" in full.error["message"], full
    assert value(service, session, "len(x)") == str(140 << 20)
    assert service.post("/v1/sessions/ses_none/fork").status == 404
    assert open_sessions(service) == before


def test_forks_one_after_the_other_share_bytes_and_their_memory_is_told(service):
    """The kernel counts an image as memory of the session that wrote it, as long as a copy has it. So the next one has
    only the bytes that differ. One that does not fit is refused before the kernel ends a process for its memory."""
    session = create(service)  # 256 MiB
    value(service, session, "import os; x = os.urandom(1 << 20) * 55; len(x)")
    sizes, copies = [], []
    for number in range(5):
        made = fork(service, session)
        sizes.append(made["image_bytes"])
        copies.append(made["sessions"][0]["id"])
        assert value(service, copies[-1], "len(x), [n for n in dir() if n.startswith('y')]") == \
            str((55 << 20, [f"y{n}" for n in range(number)]))
        value(service, session, f"y{number} = os.urandom(1 << 18)")
    assert sizes[0] > 55 << 20 and max(sizes[1:]) < sizes[0] / 4, sizes
    value(service, session, "del x; z = os.urandom(1 << 20) * 57; z[-1]")  # nothing of it is in an earlier image
    reply = service.post(f"/v1/sessions/{session}/fork")
    assert reply.status == 409, reply
    assert "images of the session that its copies have count as its memory, too (5, " in reply.error["message"], reply
    assert value(service, session, "len(z)") == str(57 << 20)
    for copy in copies:
        end(service, copy)
    assert eventually(lambda: service.post(f"/v1/sessions/{session}/fork").status == 201, 20)


HOSTILE = """import mmap, os, sys
module = sys.modules['belljar_image'].image
def write(fd, bases, used, at, room, report):
    %s
    return False, 0, 0
module.write = write"""
ATTACKS = {
    "writable": ("os.ftruncate(fd, 4096); globals()['kept'] = mmap.mmap(fd, 4096); os.write(report, b'ok 1 1 1 1\\n')",
                 503, "still in use"),
    "garbage": ("os.ftruncate(fd, 1 << 20); os.write(report, b'ok 1 1 1 1 999999999999999999999\\n')",
                503, "no whole image"),
    "empty": ("os.ftruncate(fd, 0); os.write(report, b'ok 1 1 1 1\\n')", 503, "cut short"),
    "huge": ("os.ftruncate(fd, 1 << 40); os.write(report, b'ok 1 1 1 1\\n')", 413, "there is room for"),
    "silent": ("pass", 409, "its writer ended early"),
    "long": ("os.write(report, b'x' * 4000)", 409, "its writer ended early"),
    "lying": ("os.write(report, b'error \\xff\\xfe' + b'y' * 500)", 409, "was not written"),
}


@pytest.mark.parametrize("attack", ATTACKS)
def test_a_hostile_program_gets_no_copy_and_harms_nobody(service, attack):
    code, status, says = ATTACKS[attack]
    neighbour, session = create(service), create(service)
    value(service, neighbour, "kept = 'mine'")
    before = open_sessions(service)
    value(service, session, HOSTILE % code)
    reply = service.post(f"/v1/sessions/{session}/fork", {"count": 2})
    assert reply.status == status and says in reply.error["message"], reply
    branches = service.post(f"/v1/sessions/{session}/branches", {"candidates": ["1"], "keep": "none"})
    if attack in ("garbage", "empty"):  # nobody reads an image before a program becomes it
        [candidate] = branches.json["results"]
        assert candidate["outcome"] == "failed" and says in str(candidate["cell"]["notes"]), candidate
        asks = []
    else:
        asks = [lambda: branches,
                lambda: service.post(f"/v1/sessions/{session}/sleep"),
                lambda: service.post(f"/v1/sessions/{session}/checkpoints"),
                lambda: service.get(f"/v1/sessions/{session}/image")]
    for number, ask in enumerate(asks):
        reply = ask()
        assert reply.status in (409, 413, 503, 507) and says in reply.error["message"], (number, reply)
    assert open_sessions(service) == before and images(service) == []
    assert look_at(service, session)["state"] == "idle"
    assert value(service, neighbour, "kept") == "'mine'" and value(service, session, "1 + 1") == "2"


def test_an_image_cannot_be_changed_once_it_is_used(service):
    session = create(service)
    value(service, session, "import os, sys\nmodule = sys.modules['belljar_image'].image; real = module.write\n"
                            "def write(fd, *rest):\n    global kept; kept = os.dup(fd); return real(fd, *rest)\n"
                            "module.write = write; secret = 'before'")
    copy = fork(service, session)["sessions"][0]["id"]
    error = execute(service, session, "os.pwrite(kept, b'x' * 4096, 8192)")["error"]
    assert error["name"] == "PermissionError", error
    assert execute(service, session, "os.ftruncate(kept, 0)")["error"]["name"] == "PermissionError"
    assert value(service, copy, "secret") == "'before'"
