"""IPython's shell, with the session's channel in place of a terminal."""
import os
import re
import sys

import IPython
from IPython.core import async_helpers, interactiveshell
from IPython.core.compilerop import CachingCompiler
from IPython.core.displayhook import DisplayHook
from IPython.core.displaypub import DisplayPublisher
from IPython.core.error import UsageError
from IPython.core.events import EventManager
from IPython.core.interactiveshell import InteractiveShell
from IPython.core.profiledir import ProfileDir
from IPython.lib import pretty
from traitlets import Type, observe
from traitlets.config import Config

import belljar_children as children
import belljar_errors as errors

errors.hide(os.path.dirname(IPython.__file__))
errors.hide(os.path.dirname(os.__file__) + "/asyncio")


class CellCompiler(CachingCompiler):
    """Names the code of a cell after its number, so that tracebacks are readable."""

    file = None  # of a program that runs without a session

    def get_code_name(self, raw_code, transformed_code, number):
        return self.file or f"<cell {number}>"


class Publisher(DisplayPublisher):
    def publish(self, data, metadata=None, source=None, *, transient=None, update=False, **_):
        self.shell.session.display(data, metadata, transient or {}, update)

    def clear_output(self, wait=False):
        self.shell.session.clear(wait)


# Values of these types have no representation but plain text, unless a cell has registered one.
PLAIN_TYPES = frozenset((int, float, complex, bool, str, bytes, list, tuple, dict, set, frozenset, range))


def is_only_text(formatters, value):
    kind = type(value)
    if kind not in PLAIN_TYPES:
        return False
    name = "builtins", kind.__name__
    for mime, formatter in formatters.items():
        if mime == "text/plain":
            continue
        own = formatter._trait_values  # without a call for each of sixty values
        printers = own.get("type_printers", ())
        if kind in printers or object in printers or (kind is bool and int in printers) or own.get("singleton_printers") or \
                name in own.get("deferred_printers", ()):
            return False
    return True


def plain_text(formatter, value):
    """The text of the formatter. For these two types it is repr(), unless a cell has registered another."""
    kind = type(value)
    if (kind is int or kind is str) and formatter.type_printers.get(kind) is pretty._repr_pprint and \
            id(value) not in formatter.singleton_printers:
        try:
            return repr(value)
        except ValueError:  # of too many digits: the formatter tells
            pass
    return formatter(value)


class ResultHook(DisplayHook):
    def compute_format_data(self, result):
        """Asking a dozen formatters for nothing would take half of the time of a short cell."""
        formatters = self.shell.display_formatter.formatters
        if is_only_text(formatters, result):
            text = plain_text(formatters["text/plain"], result)
            return ({} if text is None else {"text/plain": text}), {}
        return super().compute_format_data(result)

    def quiet(self):
        """Without a semicolon no token has to be looked at."""
        parsed = self.shell.history_manager.input_hist_parsed
        return bool(parsed) and ";" in parsed[-1] and super().quiet()

    def write_output_prompt(self):
        pass

    def write_format_data(self, format_dict, md_dict=None):
        self.shell.session.result(self.shell.execution_count, format_dict, md_dict)

    def finish_displayhook(self):
        pass


class Events(EventManager):
    def register(self, event, function):
        """After a cell, pyplot draws every figure, and then its backend for notebooks draws it anew, shows it and closes
        it. The backend goes first here: then pyplot has nothing to draw."""
        callbacks = self.callbacks[event]
        n = len(callbacks)
        super().register(event, function)
        if len(callbacks) > n and getattr(function, "__name__", "") == "flush_figures":
            callbacks.insert(0, callbacks.pop())

    def trigger(self, event, *args, **kwargs):
        """An interrupt of the cell is not an error of a callback, and an error of a callback leaves the cell interruptible."""
        interrupts = self.shell.session.interrupts
        for function in self.callbacks[event][:]:
            armed = interrupts.armed
            try:
                function(*args, **kwargs)
            except KeyboardInterrupt:
                raise
            except Exception:
                print(f"Error in callback {function} (for {event}):")
                self.shell.showtraceback()
                interrupts.armed = armed


class NoFolder(ProfileDir):
    """A profile that makes no folder."""

    @observe("location")
    def _location_changed(self, change):
        pass


class MemoryDb(dict):
    """In place of the shell's database of files."""

    def __init__(self, _root):
        super().__init__()

    def keys(self, globpat=None):
        import fnmatch
        return [k for k in dict.keys(self) if globpat is None or fnmatch.fnmatch(k, globpat)]

    def uncache(self, *_):
        pass


class Runner:
    """Runs the coroutine of a cell with `await`. An interrupt cancels it, as asyncio.run does."""

    def __call__(self, coroutine):
        import asyncio
        loop = async_helpers.get_asyncio_loop()
        asyncio.set_event_loop(loop)
        task = loop.create_task(coroutine)
        try:
            return loop.run_until_complete(task)
        except BaseException:
            if not task.done():
                task.cancel()
                try:
                    loop.run_until_complete(task)
                except BaseException:
                    pass
            raise

    def __str__(self):
        return "asyncio"


# Code in which IPython has nothing to replace: it begins at the margin, and has no magic, no command, no question, no
# prompt and no line that begins with a sign of automatic calls.
UNUSUAL = re.compile(r"[^\n\t -~]|[%!?]|\.\.\.|>>>|In \[|PYTHON-MODE|^[ \t]*[,;/]|\A\s|\A\Z", re.MULTILINE)
# A single line that begins so has no name of a magic, of a macro or of `exit` in front.
NAMELESS = frozenset("0123456789'\"([{-+~#")


class Shell(InteractiveShell):
    compiler_class = Type(CellCompiler)

    def __init__(self, session, **kwargs):
        self.session = session
        self.shown = []  # errors of this cell: (value, name, message, traceback)
        self.told = None  # the error that the client knows of
        super().__init__(**kwargs)
        self.loop_runner = Runner()
        self.usual = self.transformers()

    # No file of the user's home is read or made.
    def init_profile_dir(self, profile_dir):
        self.profile_dir = NoFolder(location="/tmp/.ipython")

    def init_virtualenv(self):
        pass

    def init_events(self):
        super().init_events()
        self.events.__class__ = Events

    def init_sys_modules(self):
        self.first_main = sys.modules.get("__main__")  # our own code runs in its dictionary
        super().init_sys_modules()

    def enable_gui(self, gui=None):
        """No window can be shown. `%matplotlib inline` asks for none."""

    def ask_exit(self):
        self.session.leaving = True

    def system(self, cmd):
        children.system(self, cmd)

    def getoutput(self, cmd, split=True, depth=0):
        out = children.output_of(self, cmd, depth)
        return interactiveshell.SList(out.splitlines()) if split else interactiveshell.LSString(out)

    # ---- short ways, with the results of the long ones ----

    def transformers(self):
        static, dynamic = self.input_transformer_manager, self.prefilter_manager
        return [list(some) for some in (static.cleanup_transforms, static.line_transforms, static.token_transformers,
                                        dynamic._transformers, dynamic._checkers)]

    def transform_cell(self, raw_cell):
        """Most cells are plain Python. Splitting them into tokens would take a fifth of the time of a short cell."""
        if UNUSUAL.search(raw_cell) or self.input_transformers_post or self.transformers() != self.usual:
            return super().transform_cell(raw_cell)
        cell = raw_cell if raw_cell.endswith("\n") else raw_cell + "\n"
        if cell.find("\n") < len(cell) - 1:
            return cell
        if cell[0] in NAMELESS:
            self._last_input_line = cell[:-1]
            return cell
        with self.builtin_trap:
            return self.prefilter_manager.prefilter_lines(cell) + "\n"

    def should_run_async(self, raw_cell, *, transformed_cell=None, preprocessing_exc_tuple=None):
        if transformed_cell is not None and "await" not in transformed_cell and "async" not in transformed_cell:
            return False
        return super().should_run_async(raw_cell, transformed_cell=transformed_cell,
                                        preprocessing_exc_tuple=preprocessing_exc_tuple)

    # ---- errors ----

    def showtraceback(self, exc_tuple=None, filename=None, tb_offset=None, exception_only=False,
                      running_compiled_code=False):
        self.session.interrupts.disarm()
        try:
            kind, value, trace = self._get_exc_info(exc_tuple)
        except ValueError:
            print("No traceback available to show.", file=sys.stderr)
            return
        if issubclass(kind, SyntaxError) and filename:
            value.filename = filename
        errors.refill(getattr(sys.modules["linecache"], "_ipython_cache", {}))
        if kind is UsageError:
            text = f"UsageError: {errors.message_of(value)}"
        else:
            text = errors.text_of(kind, value, None if exception_only else trace)
        if value is self.told:  # %tb
            print(text, file=sys.stderr)
        else:
            self.shown.append((value, errors.name_of(kind), errors.message_of(value), text))
        if self.call_pdb and kind is not UsageError and not exception_only:
            self.session.interrupts.arm()
            self.debugger(force=True)

    def showsyntaxerror(self, filename=None, running_compiled_code=False):
        self.showtraceback(filename=filename)

    def show_usage_error(self, exc):
        self.showtraceback((UsageError, exc, None))

    def _showtraceback(self, etype, evalue, stb):
        """For code that formats an error itself."""
        self.shown.append((evalue, errors.name_of(etype), errors.message_of(evalue),
                           errors.bounded("\n".join(str(line) for line in stb), errors.TRACEBACK_MAX)))


def tell_of_exit(session):
    """The shell's advice for sys.exit() names a key that a client of a session does not have."""
    plain = interactiveshell.warn

    def warn(text, *args, **kwargs):
        if str(text).startswith("To exit:"):
            session.note("sys.exit() does not end a session; exit() does")
        else:
            plain(text, *args, **kwargs)

    interactiveshell.warn = warn


def make(session):
    """The one shell of this process. May be made before the session begins: see belljar_session.begin."""
    config = Config()
    config.HistoryManager.enabled = False
    config.HistoryManager.hist_file = ":memory:"
    config.InteractiveShell.colors = "NoColor"
    config.InteractiveShell.display_page = True
    config.InteractiveShell.xmode = "Plain"
    config.Completer.use_jedi = False
    config.IPCompleter.use_jedi = False
    interactiveshell.PickleShareDB = MemoryDb
    tell_of_exit(session)
    shell = Shell.instance(session=session, config=config, ipython_dir="/tmp", display_pub_class=Publisher,
                           displayhook_class=ResultHook)
    shell.configurables.append(shell.display_pub)
    children.take_over(shell)
    return shell
