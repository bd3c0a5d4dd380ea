"""Runs a program as `python3 FILE ARG...` does and samples its position every few milliseconds of CPU time.

    python3 profile.py FILE ARG...

The samples go into the report file (run/reports.h) four times a second and at the end, so that a
killed run has its profile. The program finds its own __main__, sys.argv and sys.path, and tracebacks
begin with its own frames. The profiler imports little, because an imported module is visible to the
program.
"""
import _signal
import _thread
import os
import sys
import time
from _json import encode_basestring_ascii as quoted

OURS = __file__  # kept: the interpreter clears __file__ after the program, and samples are taken until the end
INTERVAL_S = 0.002
WRITE_EVERY_S = 0.25
ROWS, STACKS, DEPTH, KEPT = 100, 200, 60, 4000
# A thread whose innermost frame is in one of these files is waiting.
WAITING = ("/threading.py", "/queue.py", "/selectors.py", "/subprocess.py", "/socket.py", "/_base.py", "/connection.py", "/synchronize.py")


class Profile:
    def __init__(self, home):
        self.home = home
        self.report = os.path.join(home, ".belljar-report.json")
        self.pid = os.getpid()
        self.functions = {}  # code: [self, total]
        self.lines = {}      # (file, line): self
        self.stacks = {}     # (code, line)...: time
        self.samples, self.seconds = 0, 0.0
        self.last = time.process_time()
        self.written = time.monotonic()
        self.writing = False

    def begin(self):
        _signal.signal(_signal.SIGPROF, self.look)
        _signal.setitimer(_signal.ITIMER_PROF, INTERVAL_S, INTERVAL_S)
        self.last = time.process_time()

    def end(self):
        _signal.setitimer(_signal.ITIMER_PROF, 0)
        _signal.signal(_signal.SIGPROF, _signal.SIG_IGN)  # a signal that is already pending
        self.write()

    # ---- sampling ----

    def look(self, _number, frame):
        if self.writing:  # on a busy machine a report takes longer than the time to the next one
            return
        now = time.process_time()
        passed, self.last = now - self.last, now
        if os.getpid() != self.pid or passed <= 0:
            return
        others = [f for who, f in sys._current_frames().items() if who != MAIN_THREAD]
        seen = [f for f in [frame, *others] if f is not None]
        busy = [f for f in seen if not f.f_code.co_filename.endswith(WAITING)] or seen[:1]
        for f in busy:
            self.note(f, passed / len(busy))
        self.samples += 1
        self.seconds += passed
        if time.monotonic() - self.written > WRITE_EVERY_S:
            self.write()
            self.last = time.process_time()

    def note(self, frame, passed):
        stack, met, own_line = [], set(), None
        innermost = True
        while frame is not None:
            code = frame.f_code
            if code.co_filename == OURS:
                break
            row = self.functions.get(code)
            if row is None:
                if len(self.functions) >= KEPT:
                    row = [0.0, 0.0]
                else:
                    row = self.functions[code] = [0.0, 0.0]
            if innermost:
                row[0] += passed
                innermost = False
            if code not in met:
                met.add(code)
                row[1] += passed
            if own_line is None and self.is_own(code):
                own_line = (code.co_filename, frame.f_lineno)
            if len(stack) < DEPTH:
                stack.append((code, frame.f_lineno))
            frame = frame.f_back
        if own_line and (own_line in self.lines or len(self.lines) < KEPT):
            self.lines[own_line] = self.lines.get(own_line, 0.0) + passed
        stack = tuple(stack)
        if stack in self.stacks or len(self.stacks) < KEPT:
            self.stacks[stack] = self.stacks.get(stack, 0.0) + passed

    def is_own(self, code):
        return code.co_filename.startswith(self.home + "/")

    # ---- reporting ----

    def name(self, path):
        return path[len(self.home) + 1:] if path.startswith(self.home + "/") else path

    def text(self, path, line):
        try:
            lines = self.sources[path]
        except KeyError:
            try:
                with open(path, "rb") as f:
                    lines = f.read(1 << 20).decode("utf-8", "replace").split("\n")
            except OSError:
                lines = []
            self.sources[path] = lines
        return lines[line - 1].strip()[:200] if 0 < line <= len(lines) else ""

    sources = {}

    def json(self):
        def number(seconds):
            return "%.3f" % (seconds * 1000)

        def function_name(code):
            return getattr(code, "co_qualname", code.co_name)

        hot = sorted(self.functions.items(), key=lambda x: (self.is_own(x[0]), *x[1]), reverse=True)[:ROWS]
        functions = ["{\"function\":%s,\"file\":%s,\"line\":%d,\"self_ms\":%s,\"total_ms\":%s}" % (
            quoted(function_name(c)), quoted(self.name(c.co_filename)), c.co_firstlineno, number(s), number(t)) for c, (s, t) in hot]
        hot = sorted(self.lines.items(), key=lambda x: x[1], reverse=True)[:ROWS]
        lines = ["{\"file\":%s,\"line\":%d,\"self_ms\":%s,\"text\":%s}" % (
            quoted(self.name(f)), n, number(s), quoted(self.text(f, n))) for (f, n), s in hot]
        hot = sorted(self.stacks.items(), key=lambda x: x[1], reverse=True)[:STACKS]
        stacks = ["{\"stack\":%s,\"ms\":%s}" % (quoted(";".join(
            "%s %s:%d" % (function_name(c), self.name(c.co_filename), n) for c, n in reversed(k))), number(s)) for k, s in hot]
        return "{\"profile\":{\"sampled_ms\":%s,\"samples\":%d,\"functions\":[%s],\"lines\":[%s],\"stacks\":[%s]}}" % (
            number(self.seconds), self.samples, ",".join(functions), ",".join(lines), ",".join(stacks))

    def write(self):
        """A file that is whole or not there."""
        self.written = time.monotonic()
        if os.getpid() != self.pid:
            return
        self.writing = True
        try:
            fd = os.open(self.report + ".new", os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o644)
            try:
                data = self.json().encode()
                while data:
                    data = data[os.write(fd, data):]
            finally:
                os.close(fd)
            os.rename(self.report + ".new", self.report)
        except (OSError, RuntimeError, MemoryError):
            pass  # a full disk is the program's own affair; the last report stays
        finally:
            self.writing = False


MAIN_THREAD = _thread.get_ident()


def leave_signals_to_the_main_thread():
    """The kernel sends SIGPROF to the thread that used the time, but Python handles it only in the main
    thread. A main thread that waits for the others must be interrupted."""
    start = _thread.start_new_thread

    def start_new_thread(function, args, *more):
        before = _signal.pthread_sigmask(_signal.SIG_BLOCK, [_signal.SIGPROF])
        try:
            return start(function, args, *more)
        finally:
            _signal.pthread_sigmask(_signal.SIG_SETMASK, before)

    _thread.start_new_thread = _thread.start_new = start_new_thread


def main_module(path):
    """As the interpreter makes it for a file on its command line."""
    from importlib.machinery import SourceFileLoader
    module = type(sys)("__main__")
    module.__dict__.update(__file__=path, __builtins__=__builtins__, __cached__=None, __annotations__={},
                           __loader__=SourceFileLoader("__main__", path))
    del module.__dict__["__package__"]
    module.__package__ = None
    return module


def report_exception(error):
    """Reports an uncaught exception as the interpreter does, without our own frames."""
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename == OURS:
        trace = trace.tb_next
    error.__traceback__ = trace
    sys.last_type, sys.last_value, sys.last_traceback = type(error), error, trace
    sys.excepthook(type(error), error, trace)


def run():
    path = os.path.abspath(sys.argv[1])
    del sys.argv[0]
    sys.path[0] = os.path.dirname(path)
    profile = Profile(os.getcwd())
    module = sys.modules["__main__"] = main_module(path)
    import atexit
    atexit.register(profile.end)  # the first to register is the last to be called
    status = 0
    try:
        with open(path, "rb") as f:
            source = f.read()
        code = compile(source, path, "exec", dont_inherit=True)
        del source
        leave_signals_to_the_main_thread()
        profile.begin()
        exec(code, module.__dict__)
    except SystemExit:
        raise
    except BaseException as error:
        report_exception(error)
        status = error
    if isinstance(status, KeyboardInterrupt):
        _signal.signal(_signal.SIGINT, _signal.SIG_DFL)
        profile.end()
        os.kill(os.getpid(), _signal.SIGINT)
    if status:
        sys.exit(1)


run()
