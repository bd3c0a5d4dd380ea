"""Errors of cells as plain text, in the form in which a run of the same code shows them.

That form is the interpreter's own, and not IPython's: the diagnosis of errors reads it, and a user meets one form in
runs and sessions. Cells are called <cell 1>, <cell 2>, ..."""
import linecache
import os
import sys
import traceback

from belljar_channel import PRIVATE_BUILTINS

__builtins__ = PRIVATE_BUILTINS

MESSAGE_MAX = 64 << 10
TRACEBACK_MAX = 256 << 10
CHAIN_MAX = 100
NAME_MAX, NAMES_MAX = 40, 750
_TracebackException = traceback.TracebackException
_traceback_of = BaseException.__traceback__.__get__
values_of = None  # the driver sets it
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


def moves(a, b, most):
    """The edits between two names: 2 for a letter, 1 for its case; more than `most` if there are many."""
    row = list(range(0, 2 * len(b) + 1, 2))
    for i, x in enumerate(a):
        before, row[0] = row[0], 2 * i + 2
        for j, y in enumerate(b):
            swap = 0 if x == y else 1 if x.lower() == y.lower() else 2
            before, row[j + 1] = row[j + 1], min(before + swap, row[j + 1] + 2, row[j] + 2)
        if min(row) > most:
            break
    return min(row) if min(row) > most else row[-1]


def near_name(name, names):
    """The name that was meant, or None. A third of the letters may differ."""
    best, distance = None, 0
    for other in sorted(names)[:NAMES_MAX]:
        most = (len(name) + len(other) + 3) // 3
        found = moves(name, other, most) if len(other) <= NAME_MAX and other != name else most + 1
        if found <= most and (best is None or found < distance):
            best, distance = other, found
    return best


def hint_of(value, trace):
    """The words that Python itself adds to an error that it shows: since 3.12 also TracebackException has them."""
    if sys.version_info >= (3, 12) or type(value) is not NameError or type(value.name) is not str or \
            len(value.name) > NAME_MAX or trace is None:
        return ""
    while trace.tb_next is not None:
        trace = trace.tb_next
    frame = trace.tb_frame
    names = {*frame.f_locals, *frame.f_globals, *frame.f_builtins}
    near = near_name(value.name, [name for name in names if type(name) is str])
    return f". Did you mean: '{near}'?" if near else ""


def values_at(error):
    """The values of the variables at the error. Without a driver, which reads them, there are none."""
    try:
        return values_of(_traceback_of(error)).decode("utf-8", "replace") if values_of else ""
    except BaseException:  # no memory
        return ""


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
        return bounded("".join(lines).rstrip("\n"), TRACEBACK_MAX) + hint_of(value, trace)
    except BaseException:
        return f"{name_of(kind)}: {message_of(value)}"
