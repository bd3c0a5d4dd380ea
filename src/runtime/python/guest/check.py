"""Checks files of Python and executes no line of them: does each parse, and which imports are missing here.

    python3 -I check.py FILE...

Prints entries of the report of src/checks/report.c. The status is 0, or 1 if a file has an error of syntax.
"""
import ast
import importlib.util
import os
import sys
import traceback
import warnings

OPTIONAL = {"ImportError", "ModuleNotFoundError", "Exception", "BaseException"}


def tell(step, status, name, text):
    name, text = (part.encode("utf-8", "replace")[:most] for part, most in ((name, 255), (text, 32768)))
    head = f"check python {step} python3 {status} {len(name)} {len(text)}\n"
    sys.stdout.buffer.write(head.encode() + name + b"\n" + text + b"\n")


def parse(path, data):
    """The tree of a file. compile() also finds errors that the parser does not, such as a `return` outside of a function."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        compile(data, path, "exec", dont_inherit=True)
        return ast.parse(data, path)


def names_in(node):
    """The names of the exceptions that a handler takes."""
    if node is None:
        return OPTIONAL
    parts = node.elts if isinstance(node, ast.Tuple) else [node]
    return {getattr(part, "id", getattr(part, "attr", "")) for part in parts}


def is_for_types(node):
    test = node.test
    return getattr(test, "id", getattr(test, "attr", "")) == "TYPE_CHECKING"


def imports(body):
    """(module, node) of each import that the program needs. An import whose failure is handled is not needed, and
    neither is one for a type checker."""
    left = [body]
    while left:
        for node in left.pop():
            if isinstance(node, ast.Import):
                yield from ((alias.name, node) for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                if node.level == 0 and node.module:
                    yield node.module, node
            elif isinstance(node, (ast.Try, getattr(ast, "TryStar", ast.Try))):
                optional = any(names_in(h.type) & OPTIONAL for h in node.handlers)
                left += ([] if optional else [node.body]) + [h.body for h in node.handlers]
                left += [node.orelse, node.finalbody]
            elif isinstance(node, ast.If) and is_for_types(node):
                left.append(node.orelse)
            else:
                left += [part for _, part in ast.iter_fields(node) if isinstance(part, list)
                         and part and isinstance(part[0], (ast.stmt, getattr(ast, "match_case", ast.stmt)))]


def is_here(module):
    """Whether the first part of a name can be imported. Nothing is imported for the answer."""
    try:
        return importlib.util.find_spec(module.split(".")[0]) is not None
    except (ImportError, ValueError):
        return True


def complaint(path, node, line, module):
    """The words of the interpreter for a missing module."""
    return (f'Traceback (most recent call last):\n  File "{path}", line {node.lineno}, in <module>\n    {line.strip()}\n'
            f"ModuleNotFoundError: No module named '{module}'\n")


def check_imports(path, tree, data):
    lines = data.decode("utf-8", "replace").splitlines()
    seen = set()
    for module, node in imports(tree.body):
        if module not in seen and not is_here(module):
            line = lines[node.lineno - 1] if node.lineno <= len(lines) else ""
            tell("imports", 1, module, complaint(path, node, line, module))
        seen.add(module)


def check(name):
    path = os.path.join(os.getcwd(), name)
    try:
        with open(path, "rb") as file:
            data = file.read()
        tree = parse(path, data)
    except (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError) as e:
        tell("syntax", 1, name, "".join(traceback.format_exception_only(type(e), e)))
        return False
    tell("syntax", 0, name, "")
    for place in (os.path.dirname(path), os.path.join(os.getcwd(), "src"), os.getcwd()):
        if place not in sys.path and os.path.isdir(place):
            sys.path.append(place)
    check_imports(path, tree, data)
    return True


results = [check(name) for name in sys.argv[1:]]
tell("imports", 0 if any(results) else "skipped", "", "")
sys.stdout.flush()
sys.exit(0 if all(results) else 1)
