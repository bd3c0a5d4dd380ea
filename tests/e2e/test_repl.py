"""`belljar repl`: a session at a terminal. The terminal is tmux, so that the screen is the one that a person sees."""

import json
import os
import pty
import re
import select
import shutil
import signal
import subprocess
import termios
import time
import zlib

import pytest

import harness
from harness import belljar, eventually
from hostview import descendants, processes
from service import Service
from terminal import Terminal


@pytest.fixture(scope="module")
def s():
    with Service() as service:
        yield service


@pytest.fixture
def terminal(s, public_path):
    if not shutil.which("tmux"):
        pytest.skip("tmux is not installed: apt-get install tmux")
    opened = []

    def make(language="python", columns=80, **environ):
        environ = {"BELLJAR_STATE": s.state, "XDG_STATE_HOME": public_path, "TERM": "tmux-256color", **environ}
        opened.append(Terminal([harness.BELLJAR, "repl", language], public_path, columns, environ))
        return opened[-1]
    yield make
    for t in opened:
        t.__exit__()


def cells(s, text, language="python", cwd=None, options=()):
    return belljar("repl", *options, language, stdin=text.encode(), cwd=cwd,
                   environ={**os.environ, "BELLJAR_STATE": str(s.state)})


# ---- without a terminal ----


def test_repl_runs_cells_of_standard_input(s, public_path):
    result = cells(s, "x = 40\ndef f(n):\n    return n + 2\n\nf(x)\n1/0\nprint('still here', x)\n:save a.ipynb\n"
                      "name = input('who? ')\nAnn\nname\n:nosuch\nx?\n:vars\n", cwd=public_path)
    out, err = result.out.decode(), result.err.decode()
    assert result.status == 0 and out.startswith("42\nstill here 40\nsaved a.ipynb\n") and "'Ann'\n" in out, result
    assert "ZeroDivisionError: division by zero\n" in err and "there is no command ':nosuch'" in err, result
    notebook = json.loads((public_path / "a.ipynb").read_text())
    assert notebook["nbformat"] == 4 and "".join(notebook["cells"][0]["source"]) == "x = 40", notebook
    assert s.get("/v1/sessions").json["sessions"] == []  # it ended its session


def test_repl_goes_through_the_states_of_its_session(s):
    result = cells(s, ":undo\n:keep 3\nx = 1\n:checkpoint one\nx = 2\n:back one\nprint('x is', x)\nx = 5\n:undo\n"
                      "print('now', x)\n:fork twin\n:sleep\nprint('awake', x)\n:tree\n:undo many\n:back\n:back none\n")
    said = result.out.decode().splitlines()
    for line in ("The states before the last 3 cells are kept: ':undo' goes back.",
                 "Kept: checkpoint one, the state after cell 1",
                 "The session is back at checkpoint one, the state after cell 1",
                 "x is 1", "now 1", "The session sleeps on the disk. The next cell wakes it.", "awake 1",
                 "    checkpoint: checkpoint one, the state after cell 1"):
        assert line in said, (line, result)
    copy = next(line.split()[-1].strip(".") for line in said if line.startswith("The copy is session "))
    assert any(line.startswith(f"{copy}  idle, ") and ", from ses_" in line for line in said), result
    s.delete(f"/v1/sessions/{copy}")
    for words in ("no state before a cell is kept yet: ':keep 5' keeps", "':undo many' is no number of cells",
                  "':back' needs a checkpoint", "'none'"):
        assert words in result.err.decode(), (words, result)


def test_repl_ends_with_its_session(s):
    result = cells(s, "print(1)\nimport os; os._exit(3)\nprint(2)\nprint(3)\n")
    assert result.status == 1 and result.out == b"1\n", result
    assert "its program ended with exit code 3" in result.message, result


@pytest.mark.parametrize("language, text, out", [
    ("javascript", "let x = 6\nfunction f() {\n  return x * 7\n}\nf()\n", "42\n"),
    ("bash", "cd /tmp\nfor i in 1 2; do\necho $i\ndone\npwd\n", "1\n2\n/tmp\n")])
def test_repl_speaks_other_languages(s, language, text, out):
    result = cells(s, text, language)
    assert (result.status, result.out.decode()) == (0, out), result


@pytest.mark.parametrize("args, status, said", [
    (("cobol",), 125, "'cobol'"), (("ruby",), 1, "language 'ruby' has no sessions"),
    (("python", "x"), 64, "'x' is one word too many")])
def test_repl_refuses_what_it_cannot_open(s, args, status, said):
    result = belljar("repl", *args, environ={**os.environ, "BELLJAR_STATE": str(s.state)})
    assert result.status == status and said in result.message, result


# ---- its session ----


def sessions(s):
    return s.get("/v1/sessions").json["sessions"]


class Cells:
    """A `belljar repl` whose cells are written one by one."""

    def __init__(self, state, *options, environ=None):
        self.running = harness.Running([harness.BELLJAR, "repl", *options], stdin=subprocess.PIPE,
                                       environ={**os.environ, "BELLJAR_STATE": str(state), **(environ or {})})

    def __enter__(self):
        self.running.__enter__()
        return self

    def __exit__(self, *args):
        return self.running.__exit__(*args)

    def write(self, text):
        self.running.popen.stdin.write(text.encode())
        self.running.popen.stdin.flush()

    def reads(self, *lines):
        """These are the next lines that it prints."""
        assert [self.running.read_line() for _ in lines] == list(lines)


def test_repl_outlives_its_connections():
    """CONNECTIONS-1: the service closes idle connections, also the one for interrupts while a cell runs"""
    with Service("--set", "http.idle_timeout=300ms") as s, Cells(s.state) as c:
        c.write("x = 20\nprint('first')\n")
        c.reads("first")
        time.sleep(1)
        c.write("x + 22\nimport time\ntime.sleep(1); print(input('name? '))\nAnn\nprint('last')\n")
        c.reads("42", "Ann", "last")
        result = c.running.finish()
        assert (result.status, result.err) == (0, b""), result
        assert eventually(lambda: sessions(s) == [])


def test_repl_reads_on_after_a_crash_of_the_keeper():
    """Every line once, and the variables are there"""
    with Service() as s, Cells(s.state) as c:
        c.write("import time\nfor i in range(6): print(i, flush=True); time.sleep(0.5)\n\ni * 7\n")
        c.reads("0", "1")
        os.kill(s.half("keeper").pid, signal.SIGKILL)
        c.reads("2", "3", "4", "5", "35")
        result = c.running.finish()
        assert (result.status, result.err) == (0, b""), result


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_repl_takes_its_session_with_it(s, number):
    """TALKER-2"""
    with Cells(s.state) as c:
        c.write("print('up'); import time; time.sleep(600)\n")
        c.reads("up")
        assert len(sessions(s)) == 1
        os.kill(c.running.pid, number)
        result = c.running.finish()
    assert result.status == (-number if number == signal.SIGKILL else 128 + number), result
    assert eventually(lambda: sessions(s) == [])


def test_repl_keeps_a_session_and_goes_on_in_it(s):
    result = cells(s, "x = 41\n", options=["--keep"])
    left = re.search(r"'belljar repl --session (ses_\w+) python'", result.message)
    assert result.status == 0 and left and [one["id"] for one in sessions(s)] == [left[1]], result
    result = cells(s, "x + 1\n", options=["--session", left[1]])
    assert (result.status, result.out) == (0, b"42\n"), result
    result = cells(s, "x", "bash", options=["--session", left[1]])
    assert result.status == 1 and "is one of python" in result.message, result
    assert s.request("DELETE", f"/v1/sessions/{left[1]}").status == 200
    result = cells(s, "x", options=["--session", left[1]])
    assert result.status == 1 and "ended" in result.message, result


def test_repl_says_that_its_session_has_ended(s, terminal):
    t = terminal()
    t.shows("python>")
    assert s.request("DELETE", f"/v1/sessions/{sessions(s)[0]['id']}").status == 200
    assert eventually(t.gone, 30)


def test_repl_bounds_cells_and_session(s):
    result = cells(s, ":limits\nimport time; time.sleep(60)\n", options=["--timeout", "700ms", "--memory", "128m"])
    out = result.out.decode()
    assert re.search(r"memory +128m\n", out) and re.search(r"timeout +700ms\n", out), out
    assert "KeyboardInterrupt" in result.err.decode(), result


# ---- without a service ----


def private_parts(directory):
    return [name for name in os.listdir(directory) if name.startswith("belljar-private-")]


def test_repl_has_a_private_service_if_none_runs(public_path):
    result = belljar("repl", stdin=b"6 * 7\n:save a.ipynb\n", cwd=public_path,
                     environ={**os.environ, "BELLJAR_STATE": "/nonexistent", "TMPDIR": str(public_path)})
    assert result.status == 0 and result.out == b"42\nsaved a.ipynb\n", result
    assert private_parts(public_path) == [] and not result.err, result


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_repl_leaves_nothing_of_a_private_service(public_path, number):
    """PRIVATE_SERVICE-1: the host is compared after the test, too"""
    with Cells("/nonexistent", environ={"TMPDIR": str(public_path)}) as c:
        c.write("print('up'); import time; time.sleep(600)\n")
        c.reads("up")
        (name,) = private_parts(public_path)
        below = {(p.pid, p.start) for p in descendants(c.running.pid)}
        assert (public_path / name).stat().st_mode & 0o777 == 0o711 and len(below) >= 5
        os.kill(c.running.pid, number)
        c.running.finish()
    assert eventually(lambda: private_parts(public_path) == [], 60)
    # A zombie has ended: tests/run takes the orphans and reaps them later.
    assert eventually(lambda: not below & {(p.pid, p.start) for p in processes().values() if p.state != "Z"}, 30)


def test_repl_says_why_there_is_no_private_service(public_path):
    result = belljar("repl", "--local", environ={**os.environ, "TMPDIR": str(public_path / "nothing")})
    assert result.status == 125 and "make the directory" in result.message, result


# ---- at a terminal ----


@pytest.mark.parametrize("columns", [80, 200])
def test_repl_edits_several_lines(terminal, columns):
    t = terminal(columns=columns)
    t.shows("python>")
    t.type("def f(n):", "Enter")
    t.type("return n * 2", "Enter", "Enter")
    t.type("f('日本é')", "Enter")
    t.shows("python> def f(n):", "      .     return n * 2", "      .", "python> f('日本é')", "'日本é日本é'", "python>")
    t.type("'" + "a" * columns, "Home")
    t.type("len(", "End")
    t.type("')", "Enter")
    t.shows(f"{columns}\npython>")
    t.keys("Up", "Up", "Up")  # the history
    t.shows("python> def f(n):", "      .     return n * 2")
    t.keys("C-c", "C-d")
    assert eventually(t.gone)


def test_repl_colours_code_unless_it_must_not(terminal):
    t = terminal()
    t.shows("python>")
    t.type("import os  # note")
    assert eventually(lambda: "\x1b[35mimport" in t.screen(colours=True)), t.screen(colours=True)
    for environ in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        t = terminal(**environ)
        t.shows("python>")
        t.type("import os, time", "Enter")
        t.shows("python> import os, time", "python>")
        t.type("6 * 7", "Enter")
        t.shows("python> 6 * 7", "42", "python>")
        t.type("print('go'); time.sleep(60)", "Enter")
        t.shows("python> print('go'); time.sleep(60)", "go")
        t.keys("C-c")
        t.shows("KeyboardInterrupt", "python>")
        assert "\x1b[" not in t.screen(colours=True)


def test_repl_takes_a_paste_as_it_is(terminal):
    t = terminal()
    t.shows("python>")
    t.paste("for i in range(3):\n    if i:\n        print(i)\n\nprint('all of it')")
    t.shows("      . print('all of it')")
    t.keys("Enter")
    t.shows("1", "2", "all of it", "python>")


def test_repl_draws_wide_and_combining_characters(terminal):
    """The cursor is found behind them, also where a line is broken"""
    t = terminal()
    t.shows("python>")
    t.type("s = '" + "日本" * 20 + "e\u0301" * 3 + "'", "Left", *["BSpace"] * 6)
    t.type("X", "End", "Enter")
    t.type("len(s), s[-2:]", "Enter")
    t.shows("python> len(s), s[-2:]", "(41, '本X')", "python>")


@pytest.mark.parametrize("language, typed, shown", [
    ("javascript", ["function f(a) {", "return a *", "7", "}", "f(6)"],
     ["javascript> function f(a) {", "          .     return a *", "          .     7", "          . }",
      "javascript> f(6)", "42", "javascript>"]),
    ("bash", ["cat <<X | tr a-z A-Z", "don't", "X", "if true; then", "echo fi", "fi"],
     ["bash> cat <<X | tr a-z A-Z", "    . don't", "    . X", "DON'T", "bash> if true; then", "    . echo fi",
      "    . fi", "fi", "bash>"]),
    ("sqlite", ["CREATE TABLE t(a);", "INSERT INTO t", "VALUES (1);", "SELECT a", "FROM t;", ":vars"],
     ["sqlite> SELECT a", "      . FROM t;", " a", "---", " 1", "(1 row)", "sqlite> :vars"])])
def test_repl_goes_on_until_the_code_is_complete(terminal, language, typed, shown):
    t = terminal(language)
    t.shows(f"{language}>")
    for line in typed:
        t.type(line, "Enter")
    t.shows(*shown)


def test_repl_shows_its_session(terminal, public_path):
    """:help :vars :limits :save :load and the documentation of a name"""
    (public_path / "two.py").write_text("def two():\n    'Gives two.'\n    return 2\n\nprint('loaded')\n")
    t = terminal(columns=200)
    t.shows("python>")
    t.type(":help", "Enter")
    t.shows(":vars".ljust(25) + "show the variables")
    t.shows(":files get PATH [LOCAL]  copy a file out of the session")
    for line, shown in ((":load two.py", "loaded"), ("two()", "2"), ("x = 'it\u2019s'", "python>"),
                        (":load", "belljar: ':load' needs a file name: ':load program.py'"),
                        (":save out.ipynb", "saved out.ipynb")):
        t.type(line, "Enter")
        t.shows(f"python> {line}", shown)
    t.keys("C-l")
    t.type("?two", "Enter")
    t.shows("Docstring: Gives two.")
    t.type(":vars", "Enter")
    t.shows("x     str       'it\u2019s'")
    t.type(":limits", "Enter")
    t.shows("of each cell", "  timeout      10s")
    notebook = json.loads((public_path / "out.ipynb").read_text())
    assert ["".join(c["source"]) for c in notebook["cells"]][1:] == ["two()", "x = 'it\u2019s'"]


def test_repl_keeps_the_end_of_a_line_that_has_none(terminal):
    t = terminal()
    t.shows("python>")
    t.type("print('no end', end=''); 1/0", "Enter")
    t.shows("no end", "Traceback (most recent call last):")
    t.type("print('no end', end='')", "Enter")
    t.shows("python> print('no end', end='')", "no end", "python>")


def test_repl_leaves_half_typed_code(terminal):
    """Ctrl-C drops it, and Ctrl-D does not end the session; an open bracket is left with two empty lines"""
    t = terminal()
    t.shows("python>")
    t.type("half", "C-d", "C-d", "C-c")
    t.keys("C-c", "C-c")
    t.type("f(1,", "Enter", "Enter", "Enter")
    t.shows("python> half", "python>", "python>", "python> f(1,")
    t.shows("SyntaxError: incomplete input", "python>")
    t.keys("C-l")
    t.type("6 * 7", "Enter")
    t.shows("python> 6 * 7", "42", "python>")
    assert t.screen().startswith("python> 6 * 7")


def test_repl_interrupts_a_cell_twice(terminal):
    """A cell that ignores the first Ctrl-C gets the second one, too"""
    t = terminal()
    t.shows("python>")
    t.paste("import time\nfor i in range(2):\n    try:\n        print('round', i)\n        time.sleep(60)\n"
            "    except KeyboardInterrupt:\n        print('no', i)")
    t.keys("Enter", "Enter")
    t.shows("round 0")
    t.keys("C-c")
    t.shows("no 0", "round 1")
    time.sleep(0.5)  # two that come at once are one
    t.keys("C-c")
    t.shows("no 1", "python>")


def test_repl_shows_a_very_long_output_and_a_new_size(terminal):
    t = terminal(columns=80)
    t.shows("python>")
    t.type("import time; print('x' * 1000000 + 'end'); print('y'); time.sleep(1); print('z')", "Enter")
    t.shows("y")
    t.tmux("resize-window", "-x", "120", "-y", "30")
    t.shows("z", "python>")
    t.type("'" + "b" * 100 + "'", "Enter")
    t.shows("python> '" + "b" * 100 + "'", "'" + "b" * 100 + "'", "python>")


@pytest.mark.parametrize("background", ["black", "white"])
def test_repl_uses_colours_of_the_terminal(terminal, background):
    """A person has chosen these colours for her background; none is black or white"""
    t = terminal()
    t.tmux("set-option", "-g", "window-style", f"bg={background}")
    t.shows("python>")
    t.type("def f(): return 'text', 12  # note")
    t.shows("# note")
    used = set(re.findall(r"\x1b\[([0-9;]*)m", t.screen(colours=True)))
    assert used and used <= {"", "0", "39", "32", "35", "36", "90"}, used


def test_repl_completes_names(terminal):
    t = terminal()
    t.shows("python>")
    t.type("import string", "Enter")
    t.shows("python> import string", "python>")
    t.type("string.ascii_", "Tab")
    t.shows("string.ascii_letters    string.ascii_lowercase  string.ascii_uppercase", "python> string.ascii_")
    t.type("lo", "Tab", "Enter")
    t.shows("python> string.ascii_lowercase", "'abcdefghijklmnopqrstuvwxyz'")


def test_repl_interrupts_a_cell_and_keeps_the_variables(terminal):
    t = terminal()
    t.shows("python>")
    t.type("x = 1; print('be', 'gun'); import time; time.sleep(60)", "Enter")
    t.shows("be gun")  # the typed text does not have it
    t.keys("C-c")
    t.shows("KeyboardInterrupt", "python>")
    t.type("x + 1", "Enter")
    t.shows("python> x + 1", "2", "python>")


def test_repl_interrupts_a_cell_that_has_not_begun(terminal):
    t = terminal()
    t.shows("python>")
    for n in range(3):
        t.type(f"import time; {n}; time.sleep(600)")
        t.shows(f"python> import time; {n}; time.sleep(600)")
        t.keys("Enter", "C-c")  # at once: the service may not know of the cell yet
        assert eventually(lambda: t.screen().rstrip().endswith("\npython>")), t.screen()
        t.type(f"6 * {n + 7}", "Enter")
        t.shows(f"python> 6 * {n + 7}", str(6 * (n + 7)), "python>")
    assert "time limit" not in t.screen()


def test_repl_asks_for_the_input_of_a_program(terminal):
    t = terminal()
    t.shows("python>")
    t.type("import getpass; a = input('who? '); b = getpass.getpass('secret: ')", "Enter")
    t.shows("who?")
    t.type("Ann", "Enter")
    t.shows("who? Ann", "secret:")
    t.type("hidden", "Enter")
    t.type("a + b", "Enter")
    t.shows("'Annhidden'")
    assert "secret: hidden" not in t.screen()


def test_repl_keeps_its_history(terminal, public_path):
    t = terminal()
    t.shows("python>")
    t.type("'first\\n' + 'session'", "Enter")
    t.shows("'first\\nsession'", "python>")
    t.keys("C-d")
    assert eventually(t.gone)
    t = terminal()
    t.shows("python>")
    t.keys("Up")
    t.shows("python> 'first\\n' + 'session'")
    assert (public_path / "belljar" / "history-python").stat().st_mode & 0o77 == 0


def test_repl_saves_images_under_names_of_its_own(terminal, public_path):
    (public_path / "image-1.png").write_text("mine")
    t = terminal()
    t.shows("python>")
    t.type("from IPython.display import Image, display", "Enter")
    t.type("display(Image(data=b'\\x89PNG\\r\\n\\x1a\\n' + bytes(40), format='png'))", "Enter")
    t.shows("saved image-2.png", "python>")
    assert (public_path / "image-1.png").read_text() == "mine"
    assert (public_path / "image-2.png").read_bytes().startswith(b"\x89PNG")


class Pty:
    """A terminal that is this test: it sees each byte, and answers as it likes."""

    def __init__(self, state, answer=b"", cwd=None, **environ):
        self.answer, self.seen, self.asked = answer, b"", False
        self.fd, its = pty.openpty()
        self.before = termios.tcgetattr(its)
        keep = {k: v for k, v in os.environ.items() if k not in ("TMUX", "STY", "TERM_PROGRAM", "LC_TERMINAL")}
        self.popen = subprocess.Popen(
            [harness.BELLJAR, "repl"], stdin=its, stdout=its, stderr=its, start_new_session=True,
            env={**keep, "BELLJAR_STATE": str(state), "XDG_STATE_HOME": "/nonexistent", **environ}, cwd=cwd)
        self.its = its

    def shows(self, wanted, within=30):
        deadline = time.monotonic() + within * harness.PATIENCE
        while wanted not in self.seen and time.monotonic() < deadline:
            if select.select([self.fd], [], [], 0.1)[0]:
                self.seen += os.read(self.fd, 65536)
            if self.answer and b"\x1b[c" in self.seen and not self.asked:
                self.asked = True
                os.write(self.fd, self.answer)
        assert wanted in self.seen, self.seen

    def type(self, text):
        os.write(self.fd, text)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.popen.kill()
        self.popen.wait(30)
        os.close(self.fd)
        os.close(self.its)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_repl_restores_the_terminal(s, number):
    with Pty(s.state, TERM="xterm-256color") as p:
        p.shows(b"python> ")
        assert termios.tcgetattr(p.its) != p.before
        os.kill(p.popen.pid, number)
        assert p.popen.wait(60) == 128 + number
        assert termios.tcgetattr(p.its) == p.before
        p.shows(b"\x1b[?2004l")  # pasting is as it was
        assert b"\x1b[c" not in p.seen


KITTY, ITERM, SIXEL = b"\x1b_Gf=100,a=T,m=", b"\x1b]1337;File=inline=1:", b'\x1bP0;1;0q"1;1;2;1#0;2;100;0;0#0@@$-\x1b\\'


def png(row, width, height, kind=b"\x08\x02"):
    """An image of equal rows. A pixel has three bytes, or one bit if the kind is 1 and 0."""
    def chunk(kind, data):
        return len(data).to_bytes(4, "big") + kind + data + zlib.crc32(kind + data).to_bytes(4, "big")
    head = width.to_bytes(4, "big") + height.to_bytes(4, "big") + kind + b"\0\0\0"
    pixels = zlib.compress((b"\0" + row) * height)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")


RED = png(b"\xff\0\0" * 2, 2, 1)
FOOT = b"\x1bP>|foot(1.16.2)\x1b\\\x1b[?62;4;22c"


@pytest.mark.parametrize("environ, answer, image, shown", [
    ({"TERM": "xterm-kitty"}, b"\x1bP>|kitty(0.26.5)\x1b\\\x1b[?62;c", RED, KITTY),
    ({"TERM": "xterm-256color", "TERM_PROGRAM": "iTerm.app"}, b"\x1bP>|iTerm2 3.5.0\x1b\\\x1b[?62;4c", RED, ITERM),
    ({"TERM": "xterm-256color", "LC_TERMINAL": "iTerm2"}, b"\x1bP>|WezTerm 2023\x1b\\\x1b[?65;4;6c", RED, ITERM),
    ({"TERM": "foot"}, FOOT, RED, SIXEL),
    ({"TERM": "xterm", "XTERM_VERSION": "XTerm(379)"}, b"\x1b[?63;1;2;4;6;9;15;22c", RED, SIXEL),
    ({"TERM": "xterm-kitty"}, FOOT, RED, SIXEL),  # a terminal that was started in kitty
    ({"TERM": "foot"}, FOOT, RED[:40] + bytes(20), None),
    ({"TERM": "foot"}, FOOT, png(bytes(1000), 8000, 1100, b"\x01\0"), None),  # SIXEL-2
    ({"TERM": "xterm", "XTERM_VERSION": "XTerm(379)"}, b"\x1b[?64;1;2c", RED, None),
    ({"TERM": "xterm-kitty"}, b"\x1b[?64;1;2c", RED, None),
    ({"TERM": "xterm-kitty"}, b"", RED, None),
    ({"TERM": "xterm-256color", "KITTY_WINDOW_ID": "1"}, None, RED, None),
    ({"TERM": "screen-256color", "TERM_PROGRAM": "iTerm.app"}, None, RED, None),
    ({"TERM": "xterm-kitty", "TMUX": "/tmp/x,1,0"}, None, RED, None),
    ({"TERM": "dumb", "TERM_PROGRAM": "WezTerm"}, None, RED, None)],
    ids=["kitty", "iTerm2", "WezTerm", "foot", "xterm with Sixel", "foot in kitty", "damaged image", "large image",
         "xterm without Sixel", "xterm in kitty", "no answer", "variable of kitty", "screen", "tmux", "dumb"])
def test_repl_shows_images_only_where_the_terminal_can(s, public_path, environ, answer, image, shown):
    """IMAGES-1. None as an answer: the terminal is not even asked"""
    with Pty(s.state, answer and b"1 +" + answer + b" 1\r", public_path, **environ) as p:
        p.shows(b"python> ")
        if answer:
            p.shows(b"2004l2\r\n")  # the bytes that were typed around the answer
        p.type(b"import IPython.display as d\r")
        p.type(b"d.display(d.Image(data=bytes.fromhex('" + image.hex().encode() + b"'), format='png'))\r")
        p.shows(b"image-")
        assert (b"\x1b[>0q\x1b[c" in p.seen) == (answer is not None), p.seen
        assert [known in p.seen for known in (KITTY, ITERM, SIXEL, b"\x1bP0;")] == \
            [shown == KITTY, shown == ITERM, shown == SIXEL, shown == SIXEL], p.seen


def test_repl_talks_to_the_service_without_privileges(s):
    """TALKER: answers hold bytes that programs wrote"""
    with harness.Running([harness.BELLJAR, "repl"], stdin=subprocess.PIPE,
                         environ={**os.environ, "BELLJAR_STATE": str(s.state)}) as running:
        def talker():
            for pid in open(f"/proc/{running.pid}/task/{running.pid}/children").read().split():
                lines = open(f"/proc/{pid}/status").read().splitlines()
                status = dict(line.split(":\t", 1) for line in lines if ":\t" in line)
                # There is no filter under the sanitizers (CONFINE-2).
                if status["NoNewPrivs"] == "1" and (harness.ASAN or status["Seccomp"] == "2"):
                    return status
            return None
        assert eventually(talker)
        status = talker()
        assert eventually(lambda: int(talker()["CapEff"], 16) == 0), status
        assert not harness.ROOT or int(status["Uid"].split()[0]) >= harness.JAR_UIDS, status
