"""How the end-to-end tests run Belljar and look at the host around it.

BELLJAR        the binary under test       (build/belljar)
BELLJAR_TOOLS  the built tests/tools/*.c   (build/release/tests/tools)
BELLJAR_TEST_SLACK_MS  grace on promises about time (100); raise it on an emulated machine

Everything here is bounded in time, and every process that a test starts ends with the test.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from functools import cached_property
from pathlib import Path

REPO = Path(__file__).resolve().parents[2]
BELLJAR = os.environ.get("BELLJAR", str(REPO / "build" / "belljar"))
TOOLS = Path(os.environ.get("BELLJAR_TOOLS", REPO / "build" / "release" / "tests" / "tools"))
SLACK_MS = int(os.environ.get("BELLJAR_TEST_SLACK_MS", "100"))
ASAN = os.environ.get("BELLJAR_TEST_ASAN") == "1"  # the binary was built with the sanitizers
SOAK = os.environ.get("BELLJAR_TEST_SOAK") == "1"  # the group soak: measure more, go on for longer
EMULATED = SLACK_MS > 2000  # a machine many times slower than it looks; the sanitizers alone are not that slow
KERNEL = tuple(int(n) for n in os.uname().release.split("-")[0].split(".")[:2])
PATIENCE = 5 if EMULATED else 1  # how much longer everything may take to end
BRIEF_MS = 1000 * PATIENCE  # time enough for an interpreter to start and say something, and to wait for
BRIEF = f"{BRIEF_MS}ms"

ROOT = os.geteuid() == 0
ORDINARY_UID = 54321  # nobody's: no passwd entry, no files
JAR_UIDS = 0x70000000  # host uids from here on belong to jars

# A background job of a shell ignores SIGINT, and so would everything that we start. belljar honours that (nohup), and
# the tests of Ctrl-C would wait in vain.
for ending in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
    if signal.getsignal(ending) == signal.SIG_IGN:
        signal.signal(ending, signal.default_int_handler if ending == signal.SIGINT else signal.SIG_DFL)

# Every command that we start carries this in its environment, so that its processes on the host can be told from those
# of another run.
MARK = f"jartest-{os.getpid()}-{time.monotonic_ns()}"
NO_CACHE = "/dev/null/cache"  # the kernel lets nobody make a directory below a file

# The numbers of the commands that we started: cgroups are named after them.
started = set()

# The services among them. They keep jars ready, and start and end some at any time.
pooling = set()

# Whether every program goes to a service with warm pools; see warm.py.
must_be_warm = False

MAIN_NAME = {"python": "main.py", "node": "main.js", "bash": "main.sh"}
ONLY_COLD = {"writable_root", "isolation", "prefix", "allow", "mount"}  # a zygote's child has none of these
VALUE_OPTIONS = (
    "timeout cpu_time memory pids cpu_percent output disk files open_files memory_swap cpu_shares isolation stdin_file"
).split()


class Run:
    """A finished `belljar run`: exit status, raw streams, and the JSON result where there is one."""

    def __init__(self, argv, status, out, err):
        self.argv, self.status, self.out, self.err = argv, status, out, err

    @cached_property
    def json(self):
        try:
            return json.loads(self.out)
        except ValueError as e:
            raise AssertionError(f"stdout is not one JSON object ({e}): {self!r}") from e

    verdict = property(lambda self: self.json["verdict"])
    stdout = property(lambda self: self.json["stdout"])
    stderr = property(lambda self: self.json["stderr"])
    usage = property(lambda self: self.json["usage"])
    hits = property(lambda self: self.json["limits_hit"])
    level = property(lambda self: self.json["isolation"]["level"])

    @property
    def message(self):
        """The message of belljar itself on stderr."""
        return self.err.decode("utf-8", "replace").strip()

    def __repr__(self):
        def brief(b):
            return b if len(b) <= 3000 else b[:1500] + b" ... " + b[-1500:]

        return f"<{self.argv!r} status={self.status} out={brief(self.out)!r} err={brief(self.err)!r}>"


class Running:
    """A belljar that may still run. Leaving the `with` block always ends it."""

    def __init__(self, argv, stdin=subprocess.DEVNULL, environ=None, cwd=None, stdout=None, scratch=None):
        self.argv = [a if isinstance(a, bytes) else str(a) for a in argv]
        self.scratch = scratch
        # A service of the user of this machine does not run our programs, and we keep no program in the user's cache.
        env = {"BELLJAR_STATE": "/nonexistent", "XDG_CACHE_HOME": NO_CACHE,
               **(os.environ if environ is None else environ), "BELLJAR_TEST_MARK": MARK}
        self.popen = subprocess.Popen(
            self.argv,
            stdin=stdin,
            stdout=subprocess.PIPE if stdout is None else stdout,
            stderr=subprocess.PIPE,
            env=env,
            cwd=cwd,
            start_new_session=True,
        )
        self.pid = self.popen.pid
        started.add(self.pid)

    def finish(self, stdin=None, within=60):
        within *= PATIENCE
        try:
            out, err = self.popen.communicate(stdin, timeout=within)
        except subprocess.TimeoutExpired:
            out, err = self.end()
            raise AssertionError(f"still running after {within} s: {self.argv} out={out!r} err={err!r}") from None
        return Run(self.argv, self.popen.returncode, out or b"", err or b"")

    def read_line(self, within=20):
        """The next line of stdout, while the command goes on."""
        line, deadline = b"", time.monotonic() + within * PATIENCE
        fd = self.popen.stdout.fileno()
        while not line.endswith(b"\n"):
            left = deadline - time.monotonic()
            if left <= 0:
                raise AssertionError(f"no line within {within} s, only {line!r}: {self.argv}")
            if wait_readable(fd, left):
                byte = os.read(fd, 1)
                if not byte:
                    raise AssertionError(f"stdout ended after {line!r}: {self.finish()!r}")
                line += byte
        return line.decode("utf-8", "replace").rstrip("\n")

    def end(self):
        if self.popen.poll() is None:
            self.popen.kill()
        try:
            return self.popen.communicate(timeout=5)
        except (subprocess.TimeoutExpired, ValueError):
            return b"", b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()
        for f in (self.popen.stdin, self.popen.stdout, self.popen.stderr):
            if f:
                f.close()
        if self.scratch:
            shutil.rmtree(self.scratch, ignore_errors=True)


def wait_readable(fd, seconds):
    import select

    return bool(select.select([fd], [], [], seconds)[0])


public_dirs = []  # all that were made; conftest.py removes them after the last test


def public_dir():
    """A new directory that every user can read, unlike pytest's own; its path says nothing of belljar."""
    path = tempfile.mkdtemp(prefix="jartest-")
    os.chmod(path, 0o755)
    public_dirs.append(path)
    return Path(path)


def options(json=True, env=(), file=(), out=(), allow=(), mount=(), writable_root=False, display=False, **values):
    """Keyword arguments as belljar's options: memory="64m" is --memory 64m."""
    argv = ["--json"] if json else []
    if EMULATED:  # where ten seconds are few
        values = {"timeout": "60s", "cpu_time": "60s", **values}
    for name, value in values.items():
        assert name in VALUE_OPTIONS, name
        argv += ["--" + name.removesuffix("_file").replace("_", "-"), str(value)]
    for name, many in (("--env", env), ("--file", file), ("--out", out), ("--allow-command", allow),
                       ("--mount", mount)):
        for value in many:
            argv += [name, value if isinstance(value, bytes) else str(value)]
    return argv + (["--writable-root"] if writable_root else []) + (["--display"] if display else [])


def start(code, lang="python", name=None, args=(), prefix=(), stdin=subprocess.DEVNULL, environ=None, cwd=None,
          stdout=None, **opts):
    """Start `code` in a jar; a Running to be used in a `with` block."""
    scratch = public_dir()
    path = scratch / (name or MAIN_NAME[lang])
    path.write_bytes(code if isinstance(code, bytes) else code.encode())
    path.chmod(0o644)
    argv = [*prefix, BELLJAR, "run", "-l", lang, *options(**opts), path]
    if args:
        argv += ["--", *args]
    return Running(argv, stdin=stdin, environ=environ, cwd=cwd, stdout=stdout, scratch=scratch)


def run(code, lang="python", stdin=None, within=60, **opts):
    """Run `code` in a jar to its end. `stdin` is bytes; `within` bounds the wait; the rest are options."""
    how = subprocess.DEVNULL if stdin is None else subprocess.PIPE
    with start(code, lang, stdin=how, **opts) as running:
        result = running.finish(stdin, within)
    if must_be_warm and opts.get("json", True) and not opts.keys() & ONLY_COLD and result.out:
        assert result.json["start"] in ("warm", "hatched"), result
    return result


def run_py(code, **opts):
    return run(code, "python", **opts)


def run_js(code, **opts):
    return run(code, "node", **opts)


def run_sh(code, **opts):
    return run(code, "bash", **opts)


def belljar(*args, stdin=None, within=60, prefix=(), environ=None, cwd=None):
    """The command as typed."""
    how = subprocess.DEVNULL if stdin is None else subprocess.PIPE
    with Running([*prefix, BELLJAR, *args], stdin=how, environ=environ, cwd=cwd) as running:
        return running.finish(stdin, within)


def tool(name):
    path = TOOLS / name
    assert path.exists(), f"{path} is not built (BELLJAR_TOOLS)"
    return str(path)


def deny(rules):
    """A prefix that takes system calls away from the command behind it."""
    return [tool("deny"), rules, "--"]


def as_ordinary_user():
    """A prefix that gives up root; nothing when we have none to give up."""
    if not ROOT:
        return []
    return ["setpriv", f"--reuid={ORDINARY_UID}", f"--regid={ORDINARY_UID}", "--clear-groups", "--"]


# Every attack program begins with this text. It hands `found` back.
#
# An attack does no harm where it succeeds, because it will succeed against a build with a fault: a file of the host is
# opened for writing but not truncated, a mode, a time or a clock is set to its present value, bombs end by themselves,
# and a signal that could hit the host is sent only where `own_pids` says that it cannot.
PRELUDE = r'''
import ctypes, errno, json, os, signal, socket, stat, struct, sys, time
libc = ctypes.CDLL(None, use_errno=True)
found = {}

def name_of(e):
    return "ETIMEDOUT" if e is None else errno.errorcode.get(e, "E%d" % e)  # a timeout has no errno

def attempt(f, *args, **kw):
    """The errno's name where it is refused, "ok: …" where it is not."""
    try:
        return "ok: %.60r" % (f(*args, **kw),)
    except OSError as e:
        return name_of(e.errno)

def sys_call(number, *args):
    """A raw system call; the errno's name, or "ok: result"."""
    raw = [ctypes.c_long(a) if isinstance(a, int) else a for a in args]
    ctypes.set_errno(0)
    r = libc.syscall(ctypes.c_long(number), *raw)
    return name_of(ctypes.get_errno()) if r < 0 else "ok: %d" % r

own_pids = os.getppid() == 0  # our parent is in another pid namespace

def listed(path):
    """What can be seen there; nothing where it cannot (level process shows neither / nor /proc)."""
    try: return sorted(os.listdir(path))
    except OSError: return []

def content(path):
    try:
        with open(path, errors="replace") as f: return f.read()
    except OSError: return ""

def opened(path, flags):
    fd = os.open(path, flags | os.O_NONBLOCK | os.O_NOCTTY)
    os.close(fd)
    return path

def hand_over():
    sys.stdout.flush()
    os.write(1, b"\nFOUND " + json.dumps(found).encode() + b"\n")
'''


def attack(code, **opts):
    """Runs an attack written in Python. Returns its `found` and the run. Fails if the attack did not reach its end."""
    result = run_py(PRELUDE + code + "\nhand_over()\n", **{"timeout": "60s", "cpu_time": "60s", "within": 90, **opts})
    lines = [line for line in result.stdout.splitlines() if line.startswith("FOUND ")]
    assert lines, f"the attack program did not finish: {result!r}"
    return json.loads(lines[-1][len("FOUND "):]), result


def let_through(found):
    """The attempts that were not refused."""
    return {k: v for k, v in found.items() if not str(v).startswith("E")}


def eventually(condition, within=20.0, step=0.02):
    """Waits until `condition()` holds and returns its last value. The time is only a bound for a busy machine. A test
    that waits for an event that must not come says for how long."""
    deadline = time.monotonic() + within * PATIENCE
    while True:
        value = condition()
        if value or time.monotonic() > deadline:
            return value
        time.sleep(step)


def soonest(attempt_run, limit_ms, tries=3):
    """A run that must be gone at its deadline, tried again when the machine was too busy to tell."""
    for _ in range(tries):
        result = attempt_run()
        if result.usage["wall_ms"] <= limit_ms + SLACK_MS:
            break
    return result


def given_time(attempt, ms=BRIEF_MS, spoke=lambda result: result.stdout):
    """attempt(ms) is a run that prints and then meets its deadline. A busy machine may need all of a short deadline
    to start the program. Then the run gets more time."""
    for limit_ms in (ms, 4 * ms, 16 * ms):
        result = attempt(limit_ms)
        if spoke(result):
            break
    return result


def interrupt(running):
    """Ctrl-C: the terminal signals the whole foreground process group."""
    os.killpg(running.pid, signal.SIGINT)


sys.dont_write_bytecode = True
