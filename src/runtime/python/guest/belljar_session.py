"""A session: the loop that takes cells from the channel, and the answers to them."""
import atexit
import builtins
import fcntl
import functools
import getpass  # here: in a zygote it costs the start of a session nothing
import importlib.machinery
import io
import json
import operator
import os
import pathlib
import sys
import threading
import traceback

import belljar_answers as answers
import belljar_bundles as bundles
import belljar_charts as charts
import belljar_children as children
import belljar_contexts as contexts
import belljar_errors as errors
import belljar_image
import belljar_shell
from belljar_channel import (HELPER, ANSWER, BECOME, CLEAR, CODE, COMPLETE, COUNT, CURSOR, DETAIL, DISPLAY, DISPLAY_ID, DONE, END, EOF, ERROR,
                             EXEC, FLAGS, IMAGE, INPUT, INPUT_REQUEST, INSPECT, JSON, MESSAGE, NAME, NOTE, PASSWORD,
                             PRIVATE_BUILTINS, READY, RESULT, ROOM, STATUS, TEXT, TRACEBACK, UPDATE, VALUES, VARIABLES, VERSION, WAIT,
                             Channel, Closed)
from belljar_interrupts import Interrupts

__builtins__ = PRIVATE_BUILTINS

DISPLAYS_MAX, UPDATES_MAX, DISPLAYED_BYTES_MAX = 1000, 20000, 64 << 20  # of one cell
PROMPT_MAX = 16 << 10
LEAST_RECURSION = 500
_getpid, _exit, _fstat, _dup2 = os.getpid, os._exit, os.fstat, os.dup2
_builtins, _is = vars(builtins), operator.is_
_get_ident, _active = threading.get_ident, threading._active


class Session:
    def __init__(self):
        self.interrupts = Interrupts()
        self.channel = None
        self.shell = None
        self.request = 0  # the request that is being answered; 0: none
        self.leaving = False
        self.displays = self.updates = self.displayed_bytes = 0
        self.builtins = dict(vars(builtins))
        self.recursion = sys.getrecursionlimit()
        self.contexts = contexts.Contexts()
        self.version = f"Python {sys.version.split()[0]}, IPython {sys.modules['IPython'].__version__}"

    # ---- the shell's events ----

    def flush(self):
        """The order of output and frames is the order in which a cell made them."""
        for stream in (sys.stdout, sys.stderr, self.out, self.err):
            try:
                stream.flush()
            except KeyboardInterrupt:
                if self.interrupts.armed:
                    raise
            except BaseException:  # a cell's own object
                pass

    def send(self, kind, fields):
        self.flush()
        if _get_ident() != self.main_thread:  # signals are handled in the main thread
            self.channel.send(kind, self.request, fields)
            return
        with self.interrupts:
            self.channel.send(kind, self.request, fields)

    def mine(self):
        """False in a child process, and while no cell runs: the channel belongs to the cell."""
        return self.request and _getpid() == self.pid

    def note(self, text):
        self.send(NOTE, [(TEXT, text)])

    def fits(self, update):
        if update:
            self.updates += 1
        else:
            self.displays += 1
        if self.displays <= DISPLAYS_MAX and self.updates <= UPDATES_MAX and self.displayed_bytes <= DISPLAYED_BYTES_MAX:
            return True
        if not self.full:
            self.full = True
            self.note(f"the rest of the cell's displays was left out: a cell has at most {DISPLAYS_MAX:,} displays, "
                      f"{UPDATES_MAX:,} updates and {DISPLAYED_BYTES_MAX >> 20} MiB")
        return False

    def display(self, data, metadata, transient, update):
        if not self.mine():
            print(data.get("text/plain", ""))
            return
        if not self.fits(update):
            return
        fields = bundles.fields_of(data, metadata)
        self.displayed_bytes += sum(len(value) for _, value in fields)
        name = transient.get("display_id")
        if name is not None:
            fields.insert(0, (DISPLAY_ID, str(name)[:200]))
        self.send(UPDATE if update else DISPLAY, fields)
        self.channel.wait_until_taken()

    def clear(self, wait):
        if self.mine():
            self.send(CLEAR, [(WAIT, "1")] if wait else [])
            self.channel.wait_until_taken()

    def result(self, count, data, metadata):
        if self.mine():
            self.send(RESULT, [(COUNT, str(count)), *bundles.fields_of(data, metadata)])

    # ---- input ----

    def ask(self, prompt, password):
        if not self.mine() or _get_ident() != self.main_thread:
            raise EOFError("only the main thread of a cell can ask for input")
        fields = [(TEXT, errors.bounded(str(prompt), PROMPT_MAX))]
        if password:
            fields.append((PASSWORD, "1"))
        self.send(INPUT_REQUEST, fields)
        while True:
            self.channel.wait()  # an interrupt ends the wait, and no message is read by half
            with self.interrupts:
                message = self.channel.receive()
            if message.kind == END:
                raise Closed("the session ends")
            if message.kind != INPUT:
                raise Closed("a request came while input was asked for")
            if message.request == self.request:
                break
        if EOF in message.fields:
            raise EOFError("no input will come")
        return message.text(TEXT)

    def install_input(self):
        def input(prompt="", /):
            """The next line of input, which the client of the session is asked for. The prompt is shown to it."""
            return self.ask(prompt, False)

        def ask_password(prompt="Password: ", stream=None):
            """Asks the client of the session for a line that it should not show."""
            return self.ask(prompt, True)

        builtins.input = self.builtins["input"] = input
        getpass.getpass = ask_password

    # ---- cells ----

    def run_with_options(self, message):
        """A cell with a context of its own, or with variables of the environment for itself alone."""
        try:
            options = json.loads(message.text(JSON))
            if options.get("charts"):
                charts.install(self.shell)
            self.contexts.drop(options.get("drop", ()))
            self.contexts.enter(self.shell, options.get("context", ""), options.get("cwd"))
        except (ValueError, AttributeError, OSError) as e:
            raise Closed(f"options of a cell cannot be used: {e}") from None
        with contexts.Environment(options.get("env", {})):
            self.run_cell(message)

    def run_cell(self, message):
        silent = "silent" in message.text(FLAGS).split()
        shell = self.shell
        shell.shown, self.full = [], False
        self.displays = self.updates = self.displayed_bytes = 0
        threads = len(_active)
        interrupts = self.interrupts
        interrupts.install()
        error = None
        try:
            interrupts.arm()
            outcome = shell.run_cell(message.text(CODE), store_history=not silent, silent=silent)
            interrupts.armed = False
            error = outcome.error_before_exec or outcome.error_in_exec
        except Closed:
            raise
        except BaseException as e:  # an interrupt beside the guest's code, or a shell that the cell has broken
            interrupts.armed = False
            error = e
        self.mend()
        status = self.report(error)
        if len(_active) > threads:
            more = len(_active) - threads
            self.note(f"{more} thread{'s' if more > 1 else ''} of the cell still run{'s' if more == 1 else ''}")
        if self.leaving:
            self.note("the cell called exit(): the session ends")
        # The shell has counted the cell already, if it was one.
        self.done(status, shell.execution_count - 1 if not silent else shell.execution_count)

    def report(self, error):
        """Sends the error of the cell. Other errors that were shown, such as those of callbacks, go to stderr."""
        shell = self.shell
        shown, shell.shown = shell.shown, []
        if error is not None and not isinstance(error, BaseException):
            error = RuntimeError(str(error))
        mine = None
        for one in shown:
            if mine is None and one[0] is error:
                mine = one
            else:
                self.complain(one[3])
        if error is None:
            return "ok"
        if mine is None:
            kind = type(error)
            mine = error, errors.name_of(kind), errors.message_of(error), errors.text_of(kind, error, error.__traceback__)
        shell.told = error
        self.send(ERROR, [(NAME, mine[1]), (MESSAGE, mine[2]), (TRACEBACK, mine[3]), (VALUES, errors.values_at(error))])
        return "interrupted" if isinstance(error, KeyboardInterrupt) and self.interrupts.count else "error"

    def complain(self, text):
        try:
            print(text, file=sys.stderr)
        except BaseException:
            pass

    def done(self, status, count=None):
        self.send(DONE, [(STATUS, status), (COUNT, str(self.shell.execution_count - 1 if count is None else count))])

    # ---- repairs after a cell ----

    def mend(self):
        """Puts back parts without which no cell could run. Other changes of a cell stay."""
        now = _builtins.get
        if not all(map(_is, self.builtins.values(), map(now, self.builtins))):
            for name, value in self.builtins.items():
                if now(name) is not value and callable(value) and not callable(now(name)):
                    _builtins[name] = value
                    self.note(f"the built-in {name} was restored: without it no cell can run")
        if sys.getrecursionlimit() < LEAST_RECURSION:
            sys.setrecursionlimit(self.recursion)
            self.note(f"the recursion limit was set back to {self.recursion}: no cell can run with less than {LEAST_RECURSION}")
        self.mend_streams()

    def mend_streams(self):
        for number, name, spare in ((1, "stdout", self.out_fd), (2, "stderr", self.err_fd)):
            try:
                _fstat(number)
            except OSError:
                try:
                    _dup2(spare, number)
                    self.note(f"{name} was opened again: the cell closed its descriptor {number}")
                except OSError:
                    pass
            stream = getattr(sys, name, None)
            try:
                closed = stream is None or stream.closed
            except BaseException:
                closed = False
            if closed:
                setattr(sys, name, self.new_stream(number))
                setattr(self, "out" if number == 1 else "err", getattr(sys, name))
                children.keep_streams()
                self.note(f"sys.{name} was made anew: the cell closed it")
            elif stream is not (self.out if number == 1 else self.err) and stream is not self.replaced.get(name):
                self.replaced[name] = stream
                self.note(f"the cell replaced sys.{name}: output of later cells goes to its object")

    @staticmethod
    def new_stream(number):
        return io.TextIOWrapper(open(number, "wb", buffering=0, closefd=False), encoding="utf-8", errors="backslashreplace" if number == 2 else "strict",
                                write_through=True)

    # ---- questions ----

    def answer(self, message):
        code, cursor = message.text(CODE), message.number(CURSOR)
        interrupts = self.interrupts
        interrupts.install()
        try:
            interrupts.arm()
            if message.kind == COMPLETE:
                found = answers.complete(self.shell, code, cursor)
            elif message.kind == INSPECT:
                found = answers.inspect(self.shell, code, cursor, min(1, message.number(DETAIL)))
            else:
                found = answers.variables(self.shell)
            interrupts.armed = False
        except Closed:
            raise
        except BaseException as e:
            interrupts.armed = False
            self.send(ERROR, [(NAME, type(e).__name__), (MESSAGE, errors.message_of(e)), (TRACEBACK, "")])
            self.done("interrupted" if isinstance(e, KeyboardInterrupt) else "error")
            return
        self.send(ANSWER, [(JSON, bundles.to_json(found))])
        self.done("ok")

    # ---- images ----

    def image(self, message):
        """Writes an image, or becomes one. A process that became an image goes on in here, too: in the request for it."""
        words = message.text(FLAGS).split()
        try:
            if message.kind == BECOME:
                found = belljar_image.become(self, message, "files" in words)
            else:
                found = belljar_image.write(self, message, "strict" in words, "files" in words, message.number(ROOM))
        except (belljar_image.Refused, RuntimeError, OSError) as e:
            found = {"failed": errors.message_of(e)}
        finally:
            for fd in message.fds:
                belljar_image.quietly(os.close, fd)
        if found is None:
            return
        self.send(ANSWER, [(JSON, bundles.to_json(found))])
        self.done("ok")

    # ---- the helper for processes and files ----

    def start_helper(self, message):
        """Starts belljar_helper.py with the socket of the request. A shell starts it and ends at once, so that it is no
        child of ours: cells may wait for their children, and an image tells of them. The helper begins when the host
        sends a line."""
        helper = f"{sys.executable or '/usr/bin/python3'} -I -S {os.path.dirname(__file__)}/belljar_helper.py"
        line = f"{{ read -r go <&3 && exec {helper} 3; }} </dev/null >/dev/null 2>&1 &"
        try:
            fd = fcntl.fcntl(message.fds[0], fcntl.F_DUPFD_CLOEXEC, 20)
            pid = os.posix_spawn("/bin/sh", ["sh", "-c", line], dict(os.environ), setsid=True,
                                 file_actions=[(os.POSIX_SPAWN_DUP2, fd, 3)], setsigmask=[], setsigdef=[2, 13, 23])
            os.close(fd)
            os.waitpid(pid, 0)
            found = {"started": True}
        except (OSError, IndexError) as e:
            found = {"failed": errors.message_of(e)}
        finally:
            for fd in message.fds:
                belljar_image.quietly(os.close, fd)
        self.send(ANSWER, [(JSON, bundles.to_json(found))])
        self.done("ok")

    # ---- the loop ----

    def ready(self):
        """It calls nothing that a cell may have replaced: a process that became an image is not fresh yet."""
        with self.interrupts:
            self.channel.send(READY, 0, [(VERSION, self.version)])

    def serve(self):
        self.flush()
        self.ready()
        while not self.leaving:
            message = self.channel.receive()
            self.request = message.request
            if message.kind == EXEC and JSON in message.fields:
                self.run_with_options(message)
            elif message.kind == EXEC:
                if self.contexts.name:
                    self.contexts.enter(self.shell, "", None)
                self.run_cell(message)
            elif message.kind == HELPER:
                self.start_helper(message)
            elif message.kind in (COMPLETE, INSPECT, VARIABLES):
                self.answer(message)
            elif message.kind in (IMAGE, BECOME):
                self.image(message)
            elif message.kind == END:
                break
            elif message.kind != INPUT:  # an answer may come after its cell was interrupted
                raise Closed("a request of an unknown kind")
            self.request = 0

    def unraisable(self, what):
        """An interrupt in a finalizer ends the finalizer, and not the cell."""
        if what.exc_type is KeyboardInterrupt and self.interrupts.armed:
            self.interrupts.swallowed()
        else:
            sys.__unraisablehook__(what)

    def prepare(self, channel):
        """In the process of the session, when its job has come."""
        self.pid, self.main_thread, self.full, self.channel = _getpid(), _get_ident(), False, channel
        self.out, self.err, self.replaced = sys.stdout, sys.stderr, {}
        self.out_fd, self.err_fd = (fcntl.fcntl(n, fcntl.F_DUPFD_CLOEXEC, 190) for n in (1, 2))
        children.keep_streams()
        self.shell.user_ns["_dh"][:] = [pathlib.Path.cwd()]
        self.shell.starting_dir = os.getcwd()

    def begin(self, fd):
        self.interrupts.install()
        # A fork, a signal of the terminal or a kill of the group must not reach further than this session.
        try:
            os.setsid()
        except OSError:
            pass
        self.prepare(Channel(fd))
        sys.unraisablehook = self.unraisable
        sys.argv[:] = [""]
        if "" not in sys.path:
            sys.path.insert(0, "")
        self.install_input()
        self.builtins = dict(vars(builtins))

    def end(self, status):
        """Runs the functions that cells have registered for the end, and ends without destroying every object."""
        try:
            self.flush()
            atexit._run_exitfuncs()
            self.flush()
        except BaseException:
            pass
        _exit(status)


class QuietImport:
    """A jar has no /proc/stat. psutil prints a traceback for that and goes on; plotly imports it with the first figure."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name != "psutil._pslinux":
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec and spec.loader and not os.path.exists("/proc/stat"):
            spec.loader.exec_module = functools.partial(QuietImport.execute, spec.loader.exec_module)
        return spec

    @staticmethod
    def execute(really_execute, module):
        printed, traceback.print_exc = traceback.print_exc, lambda *_, **__: None
        try:
            really_execute(module)
        finally:
            traceback.print_exc = printed


def set_environment():
    """Before matplotlib or plotly is imported: both then show their figures as displays."""
    if QuietImport not in sys.meta_path:
        sys.meta_path.insert(0, QuietImport)
    os.environ.setdefault("MPLBACKEND", "module://matplotlib_inline.backend_inline")
    os.environ.setdefault("PLOTLY_RENDERER", "plotly_mimetype")


def run(session, fd):
    status = 0
    try:
        set_environment()
        session.begin(fd)
        session.serve()
    except Closed:
        pass
    except BaseException as e:
        session.complain(errors.text_of(type(e), e, e.__traceback__))
        status = 1
    session.end(status)


def make():
    session = Session()
    session.shell = belljar_shell.make(session)
    return session
