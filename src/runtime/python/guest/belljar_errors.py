"""Errors of cells as plain text, in the form in which a run of the same code shows them.

That form is the interpreter's own, and not IPython's: the diagnosis of errors reads it, and a user meets one form in
runs and sessions. Cells are called <cell 1>, <cell 2>, ..."""
import linecache
import os
import traceback

from belljar_channel import PRIVATE_BUILTINS

__builtins__ = PRIVATE_BUILTINS

MESSAGE_MAX = 64 << 10
TRACEBACK_MAX = 256 << 10
CHAIN_MAX = 100
_TracebackException = traceback.TracebackException
_ours = os.path.dirname(os.path.abspath(__file__)) + "/"
_hidden = []  # folders whose frames stand above those of a cell


def hide(folder):
    _hidden.append(folder.rstrip("/") + "/")


hide(_ours)


def bounded(text, most):
    if len(text) <= most:
        return text
    return f"{text[:most // 2]}\n[{len(text) - most:,} characters were left out]\n{text[-most // 2:]}"


def message_of(value):
    try:
        return bounded(str(value), MESSAGE_MAX)
    except BaseException:
        return "<exception str() failed>"


def name_of(kind):
    try:
        return str(kind.__name__)
    except BaseException:
        return "Exception"


def without_ours(report, depth=0):
    """Removes the frames of the shell: those above a cell, and everything below a function of ours."""
    frames = report.stack
    for at, frame in enumerate(frames):
        if frame.filename.startswith(_ours) and any(not f.filename.startswith(tuple(_hidden)) for f in frames[:at]):
            del frames[at:]
            break
    frames[:] = [frame for frame in frames if not frame.filename.startswith(tuple(_hidden))]
    for other in (report.__cause__, report.__context__):
        if other is not None and depth < CHAIN_MAX:
            without_ours(other, depth + 1)


def refill(cells):
    """A cell may have emptied the cache of lines."""
    for name, entry in cells.items():
        linecache.cache.setdefault(name, entry)


def text_of(kind, value, trace):
    """The traceback."""
    try:
        if hasattr(value, "_render_traceback_"):  # IPython's own protocol
            lines = value._render_traceback_()
            return bounded("\n".join(str(line) for line in lines), TRACEBACK_MAX)
    except BaseException:
        pass
    try:
        report = _TracebackException(kind, value, trace, compact=True)
        without_ours(report)
        alone = not report.stack and report.__cause__ is None and report.__context__ is None
        lines = report.format_exception_only() if alone else report.format()
        return bounded("".join(lines).rstrip("\n"), TRACEBACK_MAX)
    except BaseException:
        return f"{name_of(kind)}: {message_of(value)}"
