"""Images of processes outside a jar: by tests/tools/image_probe.c, and by bare session programs of Python."""
import os
import pathlib
import random
import shutil
import subprocess
import tempfile

import pytest

from channel import EXEC, Program
from harness import TOOLS

pytestmark = pytest.mark.release_only  # a process with sanitizers has mappings of terabytes

PROBE = str(pathlib.Path(TOOLS) / "image_probe")
GUEST = pathlib.Path(__file__).resolve().parents[2] / "build/guest/python"
COMMAND = ["/usr/bin/python3", "-B", str(GUEST / "session.py")]
HAS_IPYTHON = subprocess.run(["/usr/bin/python3", "-c", "import IPython"], stderr=subprocess.DEVNULL).returncode == 0
needs_ipython = pytest.mark.skipif(not HAS_IPYTHON, reason="IPython is not installed (apt-get install python3-ipython)")
STATE = ("sum=1536 text=on the heap counter=42 thread=8 shared=5 locked=read-only deep=500 caught=10 umask=27 "
         "rounding=1 time=1 idle=0")


def probe(*args, lines=(), prefix=()):
    """Lines: for the process that goes on after it wrote or became an image."""
    return subprocess.run([*prefix, PROBE, *map(str, args)], input="".join(f"{line}\n" for line in lines),
                          capture_output=True, text=True, timeout=60)


@pytest.fixture(scope="module")
def image(tmp_path_factory):
    file = tmp_path_factory.mktemp("image") / "image"
    done = probe("write", file, 2)
    assert done.returncode == 0, done.stderr
    report, state = done.stdout.splitlines()
    assert report.startswith("ok ") and int(report.split()[1]) == file.stat().st_size
    assert state == "wrote " + STATE.replace("counter=42", "counter=1000")
    return file


@pytest.mark.parametrize("how", ["become", "inside"])
def test_another_process_becomes_the_image(image, how):
    for _ in range(5):  # each has a layout of its own
        done = probe(how, image)
        assert (done.returncode, done.stdout) == (0, f"became {STATE}\ncookie=12345\n"), done.stderr


def test_a_process_of_the_same_layout_keeps_its_libraries_and_no_page_of_its_own(tmp_path):
    file, fixed = tmp_path / "image", ["setarch", "-R"]  # no randomised addresses, as in siblings of one zygote
    assert probe("write", file, 2, prefix=fixed).returncode == 0
    for prefix in (fixed, ()):
        done = probe("become", file, prefix=prefix)
        assert (done.returncode, done.stdout) == (0, f"became {STATE}\ncookie=12345\n"), done.stderr
    calls = subprocess.run([*fixed, "strace", "-e", "trace=openat", PROBE, "become", file], input="", text=True,
                           capture_output=True, timeout=60).stderr if shutil.which("strace") else ""
    assert calls.count("libc.so.6") < 2, calls  # once when the process starts


def change(image, tmp_path, at, data, size=None):
    copy = tmp_path / "changed"
    raw = bytearray(image.read_bytes()[:size])
    raw[at:at + len(data)] = data
    copy.write_bytes(raw)
    return copy


@pytest.mark.parametrize("at,data,size,why", [
    (0, b"", 0, "the image is cut short"),
    (0, b"", 100, "this is no whole image"),
    (0, b"", -4096, "this is no whole image"),
    (0, b"X", None, "this is no whole image"),
    (8, b"\xff" * 8, None, "the image is cut short"),
    (8, (4096).to_bytes(8, "little"), None, "the image"),
])
def test_a_broken_image_is_refused_before_anything_is_lost(image, tmp_path, at, data, size, why):
    done = probe("become", change(image, tmp_path, at, data, size))
    assert done.returncode == 3 and f"refused: {why}" in done.stderr, done


def test_a_forged_image_harms_only_the_process_that_becomes_it(image, tmp_path):
    """Each number of the head and the tables, replaced by others: a refusal, or the end of that process."""
    raw = image.read_bytes()
    head = int.from_bytes(raw[8:16], "little")
    numbers = [head + 8 * i for i in range(10)]
    maps, runs = (int.from_bytes(raw[head + at:head + at + 8], "little") for at in (24, 40))
    numbers += [maps + 8 * i for i in range(7)] + [runs + 8 * i for i in range(4)]
    for at in numbers:
        for value in (0, 4096, 1 << 40, (1 << 64) - 4096):
            done = probe("become", change(image, tmp_path, at, value.to_bytes(8, "little")))
            assert done.returncode in (0, 3, 70) or done.returncode < 0, (at, value, done)


def test_a_file_that_changed_is_named_and_an_equal_one_will_do():
    """A mapped program is known by its build id: it may be installed again, but not be another one."""
    if pathlib.Path(PROBE).is_relative_to("/tmp"):
        pytest.skip("the build is below /tmp, whose files are a session's own")
    raw = pathlib.Path(PROBE).read_bytes()
    with tempfile.TemporaryDirectory(dir=pathlib.Path(PROBE).parent) as place:  # files below /tmp are a session's own
        program, image = pathlib.Path(place) / "probe", pathlib.Path(place) / "image"

        def install(data):
            fresh = program.with_suffix(".new")
            fresh.write_bytes(data)
            fresh.chmod(0o755)
            fresh.replace(program)

        install(raw)
        subprocess.run([program, "write", image, "1"], check=True, capture_output=True, timeout=60)
        install(raw)
        assert probe("become", image).returncode == 0
        note = raw.index(b"\x04\0\0\0\x14\0\0\0\x03\0\0\0GNU\0") + 16
        for other in (raw[:note] + bytes([raw[note] ^ 1]) + raw[note + 1:], raw + b"x", b"short"):
            install(other)
            done = probe("become", image)
            assert done.returncode == 3 and f"{program} changed since the image was written" in done.stderr, done
        program.unlink()
        done = probe("become", image)
        assert done.returncode == 3 and f"{program} is not here" in done.stderr, done


# ---- images that share pages with earlier ones ----

def reports(done):
    """The numbers of each image that the process wrote: bytes, maps, runs, microseconds, bases that it needs."""
    assert done.returncode == 0, done
    return [list(map(int, line.split()[1:])) for line in done.stdout.splitlines() if line.startswith("ok ")]


def digests(done):
    return [line.split()[1] for line in done.stdout.splitlines() if len(line.split()) == 2 and line[0] in "bis"]


@pytest.fixture(scope="module")
def chain(tmp_path_factory):
    """Three images of one process, the newest first, and the digest of its memory in the newest one."""
    home = tmp_path_factory.mktemp("chain")
    files = [home / name for name in "cba"]
    done = probe("write", files[2], 100, lines=[
        "set 0 25600 1 7", f"image {files[2]}", "set 3000 256 1 8", f"image {files[1]} {files[2]}",
        "set 9000 8 100 9", f"image {files[0]} {files[1]} {files[2]}"])
    sizes = [row[0] for row in reports(done)]
    assert sizes[1] > 100 << 20 and sizes[2] < 4 << 20 and sizes[3] < 1 << 20, sizes
    assert [row[4] for row in reports(done)] == [0, 0, 1, 3]
    return files, digests(done)[-1]


def test_unchanged_pages_are_stored_once(chain):
    files, digest = chain
    for how in ("become", "inside"):
        done = probe(how, *files)
        assert digests(done) == [digest], done
    assert digests(probe("become", files[0], files[2], files[0], files[1])) == [digest]  # in any order


def test_an_image_without_its_bases_is_refused(chain, tmp_path):
    newest, middle, oldest = chain[0]
    other = tmp_path / "other"
    assert probe("write", other, 1).returncode == 0
    cut = change(oldest, tmp_path, 0, b"", -4096)
    for bases in ([], [middle], [oldest], [middle, other], [middle, cut], [middle, "/dev/null"], [middle, newest]):
        done = probe("become", newest, *bases)
        assert done.returncode == 3 and "an earlier image that it needs is missing" in done.stderr, (bases, done)


def test_an_image_with_another_base_is_refused(chain, tmp_path):
    """The id of a base is the only thing that binds it."""
    newest, middle, oldest = chain[0]
    for at in (0, 24, 39):  # the magic word, and the first and last byte of the id
        copy = tmp_path / "base"
        with open(oldest, "rb") as f:
            front = bytearray(f.read(4096))
        front[at] ^= 1
        copy.write_bytes(front)
        os.truncate(copy, oldest.stat().st_size)
        done = probe("become", newest, middle, copy)
        assert done.returncode == 3 and "an earlier image that it needs is missing" in done.stderr, (at, done)


def test_a_forged_image_with_bases_harms_only_the_process_that_becomes_it(chain, tmp_path):
    """Bits of its head and its tables, changed at random: a refusal, or a process that ends or lives on."""
    newest, *bases = chain[0]
    raw = newest.read_bytes()
    number = lambda at: int.from_bytes(raw[at:at + 8], "little")  # noqa: E731
    head = number(8)
    maps, n_runs, runs = number(head + 24), number(head + 32), number(head + 40)
    fields = [(head, 72 + 8 + 128), (maps, 640), (runs, n_runs * 32)]
    draw = random.Random(14)
    for _ in range(120):
        start, length = draw.choice(fields)
        at = start + draw.randrange(length)
        done = probe("become", change(newest, tmp_path, at, bytes([raw[at] ^ 1 << draw.randrange(8)])), *bases)
        assert done.returncode in (0, 3, 70) or done.returncode < 0, (at, done)
    for at, value in ((24, 9), (24, 1 << 31), (16, 1 << 40), (16, (1 << 64) - 4096), (16, 4097)):
        for run in range(0, n_runs, 3):  # its file and its place in it
            data = value.to_bytes(4 if at == 24 else 8, "little")
            done = probe("become", change(newest, tmp_path, runs + run * 32 + at, data), *bases)
            assert done.returncode == 3 and "pages that overlap or are not there" in done.stderr, (run, at, value, done)


def test_eight_generations_each_from_the_one_before(tmp_path):
    """Every process became the image of the one before it, which is gone."""
    files = [tmp_path / "0"]
    done = probe("write", files[0], 20, lines=["set 0 5120 1 5", f"image {files[0]}"])
    digest = digests(done)[-1]
    for n in range(1, 9):
        files.insert(0, tmp_path / str(n))
        done = probe("become", *files[1:], lines=[
            f"set {n * 300} 100 {n} {n}", f"image {files[0]} {' '.join(map(str, files[1:]))}"])
        before, changed, after = digests(done)
        assert (before, changed) == (digest, after) and before != after, done
        digest = after
        assert reports(done)[0][0] < 2 << 20, (n, done.stdout)
    assert digests(probe("become", *files)) == [digest]


def test_pages_of_zeros_are_not_stored(tmp_path):
    file = tmp_path / "zeros"
    done = probe("write", file, 20, lines=["set 0 5120 1 0", f"image {file}"])
    assert [row[0] > 1 << 20 for row in reports(done)] == [True, False]
    assert digests(probe("become", file)) == digests(done)[-1:]


def test_a_memory_in_too_many_pieces_is_stored_in_fewer(tmp_path):
    a, b = tmp_path / "a", tmp_path / "b"
    done = probe("write", a, 100, lines=["set 0 25600 1 5", f"image {a}", "set 0 12800 2 6", f"image {b} {a}"])
    assert reports(done)[2][2] < 6000, done.stdout
    assert digests(probe("become", b, a)) == digests(done)[-1:]


# ---- Python ----

@pytest.fixture
def programs():
    """A function that starts session programs in one directory."""
    started = []
    with tempfile.TemporaryDirectory() as home:
        env = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": home, "LANG": "C.UTF-8", "PYTHONUNBUFFERED": "1",
               "PYTHONDONTWRITEBYTECODE": "1", "MPLCONFIGDIR": "/tmp", "OPENBLAS_NUM_THREADS": "1"}

        def start():
            program = Program(COMMAND, cwd=home, env=env)
            started.append(program)
            return program
        yield start
        for program in started:
            program.__exit__()


def value(program, code):
    reply = program.run(code)
    assert reply["status"] == "ok", reply
    return reply.text


@needs_ipython
def test_python_goes_on_in_another_process(programs):
    original, first, second = programs(), programs(), programs()
    value(original, "import os\nd = {i: str(i) for i in range(50000)}\n"
                    "g = (i * i for i in range(9)); next(g); next(g)\n"
                    "class C: pass\nc = C(); c.name = 'kept'\nos.mkdir('sub'); os.chdir('sub')\n"
                    "f = open('file', 'w+'); f.write('hello world'); f.flush(); f.seek(6)\nos.umask(0o27)")
    answer, report, fd = original.write_image()
    assert answer["not_carried"] == [] and report.startswith("ok "), (answer, report)
    assert value(original, "next(g)") == "4"
    for fork in (first, second):
        assert fork.become(fd) is None
        assert value(fork, "next(g), d[49999], c.name, len(d), f.read()") == "(4, '49999', 'kept', 50000, 'world')"
        assert value(fork, "os.path.basename(os.getcwd()), oct(os.umask(0o27))") == "('sub', '0o27')"
        assert value(fork, "os.getpid()") == str(fork.process.pid)
        # Memory of every kind, a library, a child, a thread, and an interrupted cell.
        assert value(fork, "b = [bytes(n % 999) for n in range(200000)]; len(b)") == "200000"
        assert value(fork, "import sqlite3; sqlite3.connect(':memory:').execute('select 6 * 7').fetchone()") == "(42,)"
        assert fork.run("!echo child")["stdout"] == "child\n"
        threaded = fork.run("import threading\nt = threading.Thread(target=print, args=['thread'])\n"
                            "t.start(); t.join()")
        assert threaded["stdout"] == "thread\n"
        assert value(fork, "def deep(n): return n and 1 + deep(n - 1)\ndeep(2000)") == "2000"
    first.begin(EXEC, ("code", "print('on')\nwhile True: pass"))
    first.await_output("on")
    first.interrupt()
    assert first.finish()["status"] == "interrupted"
    assert value(original, "len(d)") == "50000"


@needs_ipython
def test_a_fork_of_a_fork_of_a_fork(programs):
    program, n = programs(), 0
    value(program, "log = [0]; big = bytearray(4 << 20)")
    for n in range(1, 4):
        _, report, fd = program.write_image()
        assert report.startswith("ok "), report
        program = programs()
        assert program.become(fd) is None
        assert value(program, f"log.append({n}); big[{n} << 12] = {n}; log") == str(list(range(n + 1)))
    assert value(program, "[big[i << 12] for i in range(5)]") == "[0, 1, 2, 3, 0]"


RANDOM = """import os, random, secrets, tempfile, uuid, ssl
def draw():
    import ctypes, numpy
    return [random.random(), numpy.random.rand(), secrets.token_hex(8), tempfile.mktemp(), str(uuid.uuid4()),
            ssl.RAND_bytes(8).hex(), ctypes.string_at(at_random(), 16).hex()]
def at_random():
    import ctypes
    f = ctypes.CDLL(None).getauxval
    f.restype, f.argtypes = ctypes.c_ulong, [ctypes.c_ulong]
    return f(25)
draw();"""


@needs_ipython
def test_forks_have_random_sources_of_their_own(programs):
    original = programs()
    value(original, RANDOM)
    _, _, fd = original.write_image()
    drawn = [eval(value(original, "draw()"))]
    for _ in range(3):
        fork = programs()
        assert fork.become(fd) is None
        drawn.append(eval(value(fork, "draw()")))
    for values in zip(*drawn):
        assert len(set(values)) == len(values), values


@needs_ipython
def test_things_that_cannot_be_carried_are_named(programs):
    original, fork = programs(), programs()
    value(original, "import os, socket, subprocess, threading\ns = socket.socket()\n"
                    "p = subprocess.Popen(['sleep', '100'], stdin=subprocess.PIPE)\nstop = threading.Event()\n"
                    "t = threading.Thread(target=stop.wait, name='waiter', daemon=True); t.start()")
    pid = value(original, "p.pid")
    refused, _, _ = original.write_image("strict")
    text = "; ".join(refused["refused"])
    for name in ("a pipe (descriptor ", "a socket (descriptor ", "the thread waiter", f"the process {pid} (sleep)"):
        assert name in text, text
    answer, report, fd = original.write_image()
    assert answer["not_carried"] == refused["refused"] and report.startswith("ok ")
    assert fork.become(fd) is None
    assert value(fork, "t.is_alive(), threading.active_count(), p.poll()") == "(False, 1, 0)"
    assert "BrokenPipeError" in str(fork.run("os.write(p.stdin.fileno(), b'x')").error)
    assert value(original, "t.is_alive(), p.poll()") == "(True, None)"
    value(original, "stop.set(); p.kill(); p.wait()")


@needs_ipython
def test_an_event_loop_is_made_anew(programs):
    original, fork = programs(), programs()
    assert value(original, "import asyncio\nawait asyncio.sleep(0, 'a')") == "'a'"
    answer, _, fd = original.write_image()
    assert answer["not_carried"] == []
    assert fork.become(fd) is None
    assert value(fork, "await asyncio.sleep(0.01, 'b')") == "'b'"
    assert value(original, "await asyncio.sleep(0.01, 'c')") == "'c'"


@needs_ipython
def test_an_image_without_room_is_refused_and_the_session_goes_on(programs):
    original = programs()
    value(original, "x = 5")
    answer, report, fd = original.write_image(room=1 << 20)
    assert report.startswith("error the image needs ") and "room for 1048576" in report
    assert value(original, "x") == "5"
    fork = programs()
    assert fork.become(fd) == "the image is cut short"
    assert value(fork, "1 + 1") == "2"


@needs_ipython
def test_the_writer_disturbs_no_child_of_the_session(programs):
    original = programs()
    value(original, "import os, signal\nheard = []\nsignal.signal(signal.SIGCHLD, lambda *a: heard.append(a[0]))")
    for _ in range(3):
        assert original.write_image()[1].startswith("ok ")
    assert value(original, "heard") == "[]"
    assert "ChildProcessError" in str(original.run("os.waitpid(-1, 0)").error)


@needs_ipython
def test_python_goes_on_from_images_that_share_pages(programs):
    program, bases = programs(), []
    value(program, "import os\nbig = os.urandom(32 << 20); log = []")
    digest = value(program, "import hashlib; hashlib.sha256(big).hexdigest()")
    sizes = []
    for n in range(4):
        _, report, fd = program.write_image(bases=bases)
        assert report.startswith("ok "), report
        sizes.append(int(report.split()[1]))
        if n % 2:  # the original goes on, or another process does
            program = programs()
            assert program.become(fd, bases=bases) is None
        bases.insert(0, fd)
        assert value(program, f"log.append({n}); log") == str(list(range(n + 1)))
    assert sizes[0] > 32 << 20 and max(sizes[1:]) < 12 << 20, sizes
    assert value(program, "hashlib.sha256(big).hexdigest()") == digest
    other = programs()
    assert other.become(bases[0], bases=bases[1:2]) == "an earlier image that it needs is missing"
    assert value(other, "1 + 1") == "2"
