"""Answers about the state of a session between two cells: completion, inspection, variables.

Guest code may run meanwhile (__dir__, __repr__, properties). It gets a short time, and its output goes nowhere."""
import sys
import types

from belljar_channel import PRIVATE_BUILTINS
from belljar_errors import bounded
from belljar_interrupts import Bounded, OutOfTime

__builtins__ = PRIVATE_BUILTINS

MATCHES_MAX, TEXT_MAX = 1000, 128 << 10
VARIABLES_MAX, PREVIEW_MAX, NAME_MAX = 1000, 200, 200
COMPLETE_S, INSPECT_S, VARIABLES_S, ONE_VARIABLE_S = 1.0, 1.0, 1.0, 0.1


class Quiet:
    """In its `with`, prints of guest code go nowhere."""

    def __enter__(self):
        self.kept = sys.stdout, sys.stderr
        sys.stdout = sys.stderr = self

    def __exit__(self, *_):
        sys.stdout, sys.stderr = self.kept

    def write(self, text):
        return len(text)

    def flush(self):
        pass


def complete(shell, code, cursor):
    from IPython.core.completer import provisionalcompleter, rectify_completions
    cursor = min(cursor, len(code))
    matches, start, end = [], cursor, cursor
    with Quiet(), Bounded(COMPLETE_S), provisionalcompleter():
        found = rectify_completions(code, shell.Completer.completions(code, cursor))
        seen = set()
        for c in found:
            start, end = c.start, c.end
            if c.text in seen:
                continue
            seen.add(c.text)
            match = {"text": c.text}
            if c.type and c.type not in ("<unknown>", "<unknown type>"):
                match["type"] = c.type
            matches.append(match)
            if len(matches) == MATCHES_MAX:
                break
    return {"matches": matches, "from": start, "to": end}


def inspect(shell, code, cursor, detail):
    from IPython.utils.tokenutil import token_at_cursor
    answer = {"found": False, "text": ""}
    with Quiet(), Bounded(INSPECT_S):
        name = token_at_cursor(code, min(cursor, len(code)))
        info = shell.object_inspect(name, detail_level=detail)
        if not info["found"]:
            return {"found": False, "text": f"{name or 'nothing'} is not defined"}
        text = shell.object_inspect_text(name, detail_level=detail)
        answer = {"found": True, "name": name, "text": bounded(text, TEXT_MAX)}
        for key, part in (("signature", "definition"), ("doc", "docstring")):
            if info.get(part):
                answer[key] = bounded(str(info[part]).rstrip("\n"), TEXT_MAX // 2)
        return answer
    answer["text"] = "the object did not describe itself in time"
    return answer


# ---- variables ----

def type_name(value):
    kind = type(value)
    module = kind.__module__
    name = kind.__qualname__
    return name if not isinstance(module, str) or module in ("builtins", "__main__") else f"{module.partition('.')[0]}.{name}"


def _short_repr():
    import reprlib
    short = reprlib.Repr()
    short.maxlevel, short.maxstring, short.maxother, short.maxlong = 3, PREVIEW_MAX, PREVIEW_MAX, PREVIEW_MAX
    short.maxlist = short.maxtuple = short.maxdict = short.maxset = short.maxfrozenset = short.maxarray = 20
    return short.repr


_containers = (list, tuple, dict, set, frozenset, str, bytes, bytearray)


def measure(value):
    """(bytes, shape) as far as they are known without running code of the guest."""
    kind = type(value)
    library = str(kind.__module__).partition(".")[0]
    shape = None
    if library in ("numpy", "pandas", "torch", "scipy", "polars"):
        found = getattr(value, "shape", None)
        shape = [int(n) for n in found] if isinstance(found, tuple) else None
        if library == "pandas" and hasattr(value, "memory_usage"):
            used = value.memory_usage()
            return int(used if isinstance(used, int) else used.sum()), shape
        if isinstance(getattr(value, "nbytes", None), int):
            return value.nbytes, shape
    if kind in _containers:
        shape = [len(value)]
    return sys.getsizeof(value), shape


def preview(value, short):
    if type(value) in _containers or type(value) in (int, float, bool, complex):
        text = short(value)
    elif type(value).__module__.startswith("pandas.") and hasattr(value, "columns"):
        columns = ", ".join(str(c) for c in value.columns[:20])
        text = f"{len(value)} rows × {len(value.columns)} columns: {columns}"
    else:
        text = repr(value)
    text = str(text).replace("\n", " ")
    return text if len(text) <= PREVIEW_MAX else text[:PREVIEW_MAX - 1] + "…"


def describe(name, value, short):
    row = {"name": name, "type": "?", "preview": ""}
    try:
        with Bounded(ONE_VARIABLE_S):
            row["type"] = bounded(type_name(value), NAME_MAX)
            size, shape = measure(value)
            row["size"] = size
            if shape is not None:
                row["shape"] = shape
            row["preview"] = preview(value, short)
            return row
        row["preview"] = "(its repr takes too long)"
    except BaseException as e:
        row["preview"] = f"(its repr failed: {type(e).__name__})"
    return row


def is_imported(value):
    """Modules, and functions and classes of modules."""
    kind = type(value)
    if kind is types.ModuleType:
        return True
    if kind is types.FunctionType or kind is types.BuiltinFunctionType or kind is type:
        return value.__module__ not in ("__main__", None)
    return False


def variables(shell):
    """The names that cells have defined, in order of definition, without those of the shell."""
    import time
    hidden, short, rows, cut = shell.user_ns_hidden, _short_repr(), [], False
    began = time.monotonic()
    with Quiet():
        for name, value in list(shell.user_ns.items()):
            if not isinstance(name, str) or name.startswith("_") or (name in hidden and hidden[name] is value):
                continue
            if is_imported(value):
                continue
            if len(rows) == VARIABLES_MAX or time.monotonic() - began > VARIABLES_S:
                cut = True
                break
            rows.append(describe(name[:NAME_MAX], value, short))
    return {"variables": rows, "cut": cut}
