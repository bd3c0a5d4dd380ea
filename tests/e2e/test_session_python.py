"""The session program of Python, started bare: a socket at descriptor 3, no jar and no service."""
import base64
import json
import os
import pathlib
import re
import subprocess
import tempfile

import pytest

from channel import COMPLETE, END, EXEC, Program, Shared

pytestmark = pytest.mark.release_only  # no code of ours in C takes part

ROOT = pathlib.Path(__file__).resolve().parents[2]
GUEST = ROOT / "src/runtime/python/guest"
CELLS = ROOT / "tests/data/sessions/python"
COMMAND = ["/usr/bin/python3", "-B", str(GUEST / "session.py")]
HAS_IPYTHON = subprocess.run(["/usr/bin/python3", "-c", "import IPython"], stderr=subprocess.DEVNULL).returncode == 0
needs_ipython = pytest.mark.skipif(not HAS_IPYTHON, reason="IPython is not installed (apt-get install python3-ipython)")


def environment(home, **more):
    return {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": home, "LANG": "C.UTF-8", "PYTHONUNBUFFERED": "1",
            "PYTHONDONTWRITEBYTECODE": "1", "MPLCONFIGDIR": "/tmp", **more}


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    home = tmp_path_factory.mktemp("home")
    all_tests = Shared(lambda: Program(COMMAND, cwd=home, env=environment(str(home))))
    yield all_tests
    all_tests.end()


@pytest.fixture
def shared(programs):
    """One session for the tests that leave it as it was."""
    return programs.get()


@pytest.fixture
def session():
    with tempfile.TemporaryDirectory() as home, Program(COMMAND, cwd=home, env=environment(home)) as program:
        yield program


def notes(reply):
    return " ".join(fields["text"] for name, fields in reply["events"] if name == "note")


def displays(reply, name="display"):
    return [fields["bundle"] for kind, fields in reply["events"] if kind == name]


# ---- the same as IPython ----

def cells_of(path):
    return [cell.strip("\n") for cell in path.read_text().split("\n#---\n")]


def normal(text):
    """Without addresses, names of cells, the shell's class and the terminal's line ends."""
    text = re.sub(r"(0x|at )[0-9a-f]{6,}", r"\1", text.replace("\r\n", "\n"))
    text = re.sub(r"<(ipython-input-\d+-[0-9a-f]+|cell \d+)>", "<cell>", text)
    return re.sub(r"/tmp/tmp\w+", "/tmp/dir", text)


def normal_bundle(bundle):
    out = {}
    for mime, value in bundle.items():
        if isinstance(value, bytes):
            value = base64.b64encode(value).decode()
        elif mime.endswith("json") and isinstance(value, str):
            value = json.loads(value)
        out[mime] = normal(value).strip("\n") if isinstance(value, str) else value
    return out


def outcome_of(reply):
    error = reply.error
    shown = [fields["bundle"] for kind, fields in reply["events"] if kind in ("display", "update_display")]
    return {"stdout": normal(reply["stdout"]),
            "results": [normal_bundle(bundle) for bundle in displays(reply, "result")],
            "displays": [normal_bundle(bundle) for bundle in shown],
            "error": error and [error["name"], normal(error["message"])]}


def outcome_of_reference(outcome):
    return {"stdout": normal(outcome["stdout"]), "results": [normal_bundle(bundle) for bundle in outcome["results"]],
            "displays": [normal_bundle(bundle) for bundle in outcome["displays"]],
            "error": outcome["error"] and [outcome["error"][0], normal(outcome["error"][1])]}


STEMS = sorted(path.stem for path in CELLS.glob("*.cells"))
# In a child of a process that has made the session, as in an embryo.
IN_A_CHILD = ["/usr/bin/python3", "-B", str(ROOT / "tests/lib/warm_session.py"), str(GUEST)]


@needs_ipython
@pytest.mark.parametrize("stem, command", [
    *(pytest.param(stem, COMMAND, id=stem) for stem in STEMS),
    *(pytest.param(stem, IN_A_CHILD, id=stem + "-in-a-child") for stem in ("awaits", "displays", "history", "magics"))])
def test_cells_have_the_outcome_of_ipython(stem, command):
    path = CELLS / f"{stem}.cells"
    if stem == "data":
        pytest.importorskip("pandas", reason="pandas is not installed")
    cells = cells_of(path)
    with tempfile.TemporaryDirectory() as home:
        reference = subprocess.run(["/usr/bin/python3", "-B", str(ROOT / "tests/lib/ipython_reference.py")], cwd=home,
                                   input=json.dumps(cells), capture_output=True, text=True, env=environment(home),
                                   timeout=120)
    assert reference.returncode == 0, reference.stderr[-2000:]
    expected = json.loads(reference.stdout)
    assert len(expected) == len(cells)
    wrong = []
    with tempfile.TemporaryDirectory() as home, Program(command, cwd=home, env=environment(home)) as program:
        for cell, wanted in zip(cells, expected):
            got, wanted = outcome_of(program.run(cell)), outcome_of_reference(wanted)
            if got != wanted:
                wrong.append(f"{cell!r}\n  ipython {wanted}\n  session {got}")
    assert not wrong, f"{len(wrong)} of {len(cells)} cells differ\n" + "\n".join(wrong)


def test_there_are_enough_cells():
    assert sum(len(cells_of(path)) for path in CELLS.glob("*.cells")) >= 300


# ---- displays ----

@needs_ipython
def test_figures_are_displays_without_show_and_with_it(shared):
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    reply = shared.run("import matplotlib.pyplot as plt\nplt.plot([1, 2]);")
    (figure,) = displays(reply)
    assert figure["image/png"].startswith(b"\x89PNG") and "Figure" in figure["text/plain"]
    (figure,) = displays(shared.run("plt.plot([3, 4])\nplt.show()\nprint('after')"))
    assert figure["image/png"].startswith(b"\x89PNG")
    assert displays(shared.run("%matplotlib inline\n1")) == []
    assert len(displays(shared.run("for i in range(3):\n    plt.figure(); plt.plot([i])"))) == 3
    shared.run("fig, ax = plt.subplots(); plt.close(fig)")
    assert shared.run("fig").first("result")["bundle"]["image/png"].startswith(b"\x89PNG")


@needs_ipython
def test_a_figure_is_not_drawn_before_it_is_shown(session):
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    reply = session.run("import matplotlib.pyplot as plt\nfrom matplotlib.figure import Figure\n"
                        "draws, draw = [], Figure.draw\nFigure.draw = lambda *a: (draws.append(1), draw(*a))\n"
                        "plt.plot([1, 2]);")
    assert len(displays(reply)) == 1
    # Once to find the bounds of its texts, once for the picture.
    assert session.run("len(draws)").text == "2"


@needs_ipython
def test_a_frame_plots_and_is_shown_as_html_and_text(shared):
    pytest.importorskip("pandas", reason="pandas is not installed")
    reply = shared.run("import pandas as pd\ndf = pd.DataFrame({'a': [1, 2]})\ndf")
    bundle = reply.first("result")["bundle"]
    assert "<table" in bundle["text/html"] and bundle["text/plain"].split() == ["a", "0", "1", "1", "2"]
    assert displays(shared.run("df.plot();"))[0]["image/png"]
    variables = shared.variables()
    row = variables["df"]
    assert row["shape"] == [2, 1] and "2 rows" in row["preview"] and row["size"] > 16
    assert "pd" not in variables and "plt" not in variables


@needs_ipython
def test_plotly_figures_are_json(shared):
    pytest.importorskip("plotly", reason="plotly is not installed")
    reply = shared.run("import plotly.graph_objects as go\ngo.Figure(go.Scatter(y=[1, 2])).show()")
    (bundle,) = displays(reply)
    assert json.loads(bundle["application/vnd.plotly.v1+json"])["data"][0]["y"] == [1, 2]


@needs_ipython
def test_displays_and_output_keep_their_order(shared):
    shared.begin(EXEC, ("code", "from IPython.display import clear_output\n"
                                "print('a'); display(1); print('b'); clear_output(wait=True); print('c')"))
    seen = []
    while True:
        kind, _, fields = shared.read_frame()
        seen.append((kind, shared.out.decode()))
        if fields.get("status"):
            break
    assert [out for _, out in seen] == ["a\n", "a\nb\n", "a\nb\nc\n"]


@needs_ipython
def test_displays_are_bounded_in_number_and_bytes(shared):
    reply = shared.run("for i in range(1500): display(i)\n'end'")
    assert len(displays(reply)) == 1000 and "1,000 displays" in notes(reply) and reply.text == "'end'"
    reply = shared.run("from IPython.display import HTML\ndisplay(HTML('x' * 5_000_000))")
    fields = reply.first("display")
    assert "text/html of 5,000,000 bytes" in fields["cut"] and list(fields["bundle"]) == ["text/plain"]
    reply = shared.run("'y' * 5_000_000")
    assert len(reply.text) < 2 << 20 and reply.text.endswith("more bytes were left out]")
    assert "text/plain" in reply.first("result")["cut"]
    assert shared.run("1").text == "1"


@needs_ipython
def test_a_bundle_that_is_no_json_or_base64_breaks_nothing(shared):
    reply = shared.run("display({'text/plain': 'p', 'application/json': {1: {2}}, 'image/png': '!', 5: 6,\n"
                       "         'text/html': None}, raw=True)")
    (bundle,) = displays(reply)
    assert bundle["text/plain"] == "p" and json.loads(bundle["application/json"]) == {"1": "{2}"}
    assert reply["status"] == "ok"


# ---- input ----

@needs_ipython
def test_input_asks_and_waits(shared):
    reply = shared.run("name = input('name? ')\nprint('hello', name)", answer=lambda prompt: prompt.upper())
    assert reply["stdout"] == "hello NAME? \n" and reply.first("input_request") == {"text": "name? "}
    reply = shared.run("import getpass\ngetpass.getpass('key: ')", answer=lambda prompt: "s")
    assert reply.first("input_request") == {"text": "key: ", "password": "1"} and reply.text == "'s'"
    reply = shared.run("input()", answer=lambda prompt: None)
    assert reply.error["name"] == "EOFError"
    assert shared.run("import sys\nsys.stdin.read()").text == "''"


@needs_ipython
def test_input_of_a_thread_or_a_child_is_refused(shared):
    reply = shared.run("import threading\ndef f():\n    try: input()\n    except EOFError as e: print('no:', e)\n"
                       "t = threading.Thread(target=f); t.start(); t.join()")
    assert "no: only the main thread" in reply["stdout"]
    reply = shared.run("import os\npid = os.fork()\nif not pid:\n    try: input()\n"
                       "    except EOFError: print('child: no')\n    display('x'); os._exit(0)\n"
                       "os.waitpid(pid, 0); 'parent'")
    assert reply["stdout"] == "child: no\n'x'\n" and reply.text == "'parent'"


@needs_ipython
def test_an_interrupt_ends_the_wait_for_input(shared):
    shared.begin(EXEC, ("code", "input('never')"))
    assert shared.read_frame()[2]["text"] == "never"
    shared.interrupt()
    reply = shared.finish()
    assert reply["status"] == "interrupted" and reply.error["name"] == "KeyboardInterrupt"
    shared.send(2, shared.request, [("text", "late")])  # the answer to a question that nobody asks any more
    assert shared.run("1").text == "1"


# ---- interrupts ----

WAITS = {
    "loop": "while True: pass",
    "sleep": "import time; time.sleep(100)",
    "await": "import asyncio\nawait asyncio.sleep(100)",
    "subprocess": "import subprocess; subprocess.run(['sleep', '100'])",
    "command": "!sleep 100",
    "bash": "get_ipython().run_cell_magic('bash', '', 'sleep 100')",
    "os.system": "import os; os.system('sleep 100')",
    "getoutput": "x = !sleep 100",
    "lock": "import threading; l = threading.Lock(); l.acquire(); l.acquire()",
    "sum": "for i in range(10**11): sum(range(10**5))",
    "gather": "import asyncio\nawait asyncio.gather(*[asyncio.sleep(100) for _ in range(5)])",
    "future": "import concurrent.futures as c\nc.Future().result()",
}


@needs_ipython
@pytest.mark.parametrize("code", WAITS.values(), ids=WAITS)
def test_an_interrupt_ends_the_cell_and_keeps_the_state(shared, code):
    shared.run("kept = 17")
    shared.begin(EXEC, ("code", "print('on')\n" + code))
    shared.await_output("on")
    shared.interrupt()
    reply = shared.finish()
    assert reply["status"] == "interrupted" and reply.error["name"] == "KeyboardInterrupt", reply
    assert "belljar_" not in reply.error["traceback"] and "IPython" not in reply.error["traceback"]
    assert shared.run("kept").text == "17"


@needs_ipython
def test_a_command_that_ignores_sigint_is_killed(shared):
    shared.begin(EXEC, ("code", "%%bash\ntrap '' INT; echo $$; while :; do sleep 1; done"))
    shared.await_output("\n")
    pid = int(shared.out)
    shared.interrupt()
    assert shared.finish()["status"] == "interrupted"
    assert not os.path.exists(f"/proc/{pid}")


@needs_ipython
def test_many_interrupts_are_one(shared):
    for _ in range(3):
        shared.begin(EXEC, ("code", "print('on')\nwhile True: pass"))
        shared.await_output("on")
        for _ in range(20):
            shared.interrupt()
        reply = shared.finish()
        assert reply["status"] == "interrupted" and [n for n, _ in reply["events"]].count("error") == 1
        for _ in range(5):
            shared.interrupt()  # between two cells
        assert shared.run("3").text == "3"


@needs_ipython
def test_a_cell_may_handle_its_interrupt(shared):
    shared.begin(EXEC, ("code", "try:\n    print('on')\n    while True: pass\n"
                                "except KeyboardInterrupt:\n    print('caught')\n5"))
    shared.await_output("on")
    shared.interrupt()
    reply = shared.finish()
    assert reply["status"] == "ok" and reply.text == "5" and "caught" in reply["stdout"]
    shared.run("from signal import *\nsignal(SIGINT, SIG_IGN)\npthread_sigmask(SIG_BLOCK, [SIGINT])")
    shared.begin(EXEC, ("code", "print('on')\nwhile True: pass"))
    shared.await_output("on")
    shared.interrupt()
    assert shared.finish()["status"] == "interrupted"


# ---- cells that break things ----

@needs_ipython
def test_a_broken_environment_is_mended_or_told(session):
    for code, said in (
            ("import os\nos.close(1); os.close(2)", "closed its descriptor 1"),
            ("import os\nos.closerange(3, 1000)", ""),
            ("import sys\nsys.stdout.close()", "sys.stdout was made anew"),
            ("sys.stderr = None", "sys.stderr was made anew"),
            ("import builtins\ndel builtins.len, builtins.isinstance", "the built-in len was restored"),
            ("builtins.print = None", "the built-in print was restored"),
            ("import os, struct\nos.read = os.write = os.fstat = struct.unpack_from = None", ""),
            ("sys.setrecursionlimit(60)", "recursion limit was set back"),
            ("import os, shutil\nshutil.rmtree(os.getcwd())", ""),
            ("import linecache, traceback\nlinecache.cache.clear(); traceback.TracebackException = None", ""),
            ("sys.settrace(lambda *a: 1/0)", ""),
            ("import signal\nsignal.setitimer(signal.ITIMER_REAL, 10000)", ""),
            ("import threading\nthreading.Thread(target=threading.Event().wait, daemon=True).start()",
             "1 thread of the cell still runs"),
            ("def r(): return r()\nr()", ""),
            ("sys.modules.clear()", ""),
            ("del __builtins__, In, Out, _, exit", ""),
            ("get_ipython().user_ns.pop('_oh', None)", ""),
            ("globals().clear()", "")):
        reply = session.run(code)
        assert said in notes(reply), (code, reply)
        after = session.run("print('out')\n6 * 7")
        assert after["stdout"] == "out\n" and after["status"] in ("ok", "error"), (code, after)
        assert after.text == "42" or "_oh" in code or "globals" in code or "del __b" in code, (code, after)


@needs_ipython
def test_a_replaced_stdout_is_the_cell_s_own_matter_and_told(session):
    reply = session.run("import sys, io\nreal = sys.stdout\nsys.stdout = io.StringIO()")
    assert "replaced sys.stdout" in notes(reply)
    reply = session.run("print('unseen')\n1")
    assert reply["stdout"] == "" and reply.text == "1" and notes(reply) == ""
    assert session.run("sys.stdout = real\nprint('seen')")["stdout"] == "seen\n"


@needs_ipython
def test_forged_and_broken_frames_end_nothing_here(session):
    """The program goes on if a cell closes all but one of its descriptors of the channel."""
    code = ("import os\nfds = [int(f) for f in os.listdir('/proc/self/fd')]\n"
            "names = {f: os.readlink(f'/proc/self/fd/{f}') for f in fds if os.path.lexists(f'/proc/self/fd/{f}')}\n"
            "mine = sorted(f for f in names if 'socket' in names[f])\n"
            "for f in mine[:-1]: os.close(f)\nlen(mine)")
    assert session.run(code).text == "3"
    assert session.run("2").text == "2"
    reply = session.run("import os\nos.closerange(3, 1 << 20)\n1")
    assert reply["status"] == "gone" and session.process.wait(10) == 0


@needs_ipython
def test_exit_ends_the_session_and_sys_exit_does_not(session):
    reply = session.run("import sys\nsys.exit(4)")
    assert reply.error["name"] == "SystemExit" and reply.error["message"] == "4" and "exit() does" in notes(reply)
    session.run("import atexit\natexit.register(print, 'bye')")
    reply = session.run("exit()\nprint('rest')")
    assert "session ends" in notes(reply) and reply["status"] == "ok" and reply["stdout"].startswith("rest\n")
    assert session.process.wait(10) == 0
    assert session.read_frame() is None and session.out.endswith(b"bye\n")


@needs_ipython
@pytest.mark.parametrize("code", ["quit", "exit", "import os; os._exit(3)", "import os; os.kill(os.getpid(), 9)",
                                  "import os; os.execv('/bin/true', ['true'])"])
def test_a_program_that_ends_closes_the_channel(session, code):
    session.run(code)
    session.process.wait(10)
    assert session.read_frame() is None


@needs_ipython
def test_the_end_is_asked_for_or_seen(session):
    session.send(END, 0, [])
    assert session.process.wait(10) == 0


# ---- errors ----

@needs_ipython
def test_a_traceback_has_the_form_of_a_run(shared):
    count = int(shared.run("def f(x):\n    return 1 / x")["count"])
    error = shared.run("f(0)").error
    assert error["traceback"] == ("Traceback (most recent call last):\n"
                                  f'  File "<cell {count + 1}>", line 1, in <module>\n    f(0)\n'
                                  f'  File "<cell {count}>", line 2, in f\n    return 1 / x\n           ~~^~~\n'
                                  "ZeroDivisionError: division by zero")
    error = shared.run("x = (").error
    assert error["name"] == "SyntaxError" and error["traceback"].startswith(f'  File "<cell {count + 2}>", line 1\n')
    error = shared.run("def r(): return r()\nr()").error
    assert error["name"] == "RecursionError" and "more times]" in error["traceback"]
    error = shared.run("raise ValueError('x' * 10_000_000)").error
    assert len(error["message"]) < 70_000 and len(error["traceback"]) < 300_000
    assert shared.run("%tb")["stderr"].startswith("Traceback") and shared.run("%tb")["status"] == "ok"


@needs_ipython
def test_errors_of_callbacks_are_told_beside_the_cell(shared):
    shared.run("def bad(): raise LookupError('callback')\nget_ipython().events.register('post_execute', bad)")
    reply = shared.run("5")
    assert reply.text == "5" and reply["status"] == "ok" and "LookupError: callback" in reply["stderr"]
    shared.run("get_ipython().events.unregister('post_execute', bad)")


# ---- questions ----

@needs_ipython
def test_completion_inspection_and_variables(shared):
    shared.run("import os\nvalue = [1, 2, 3]\ndef helper(a, b=2):\n    'Helps.'")
    answer = shared.complete("x = os.path.joi")
    assert [m["text"] for m in answer["matches"]] == ["os.path.join"] or answer["matches"][0]["text"] == "join"
    assert answer["to"] == 15 and answer["from"] in (4, 12)
    assert "import" in [m["text"] for m in shared.complete("impo")["matches"]]
    answer = shared.inspect("helper(")
    assert answer["found"] and answer["signature"] == "helper(a, b=2)" and answer["doc"] == "Helps."
    assert shared.inspect("no_such_name")["found"] is False
    variables = shared.variables()
    row = variables["value"]
    assert row.pop("size") > 0 and row == {"name": "value", "type": "list", "shape": [3], "preview": "[1, 2, 3]"}
    assert "helper" in variables and "os" not in variables and "In" not in variables


@needs_ipython
def test_questions_never_hang_or_print(shared):
    shared.run("import time\nclass Slow:\n    def __repr__(self):\n        print('noise')\n        while True: pass\n"
               "    def __dir__(self):\n        time.sleep(100)\nclass Bad:\n    def __repr__(self): raise SystemExit\n"
               "class Long:\n    def __repr__(self): return 'z' * 10**7\n"
               "slow, bad, long = Slow(), Bad(), Long()\nbig = list(range(10**6))\nok = 1")
    variables = shared.variables()
    previews = {name: row["preview"] for name, row in variables.items()}
    assert previews["slow"] == "(its repr takes too long)" and previews["bad"] == "(its repr failed: SystemExit)"
    assert len(previews["long"]) <= 200 and len(previews["big"]) <= 200 and previews["ok"] == "1"
    assert variables["big"]["shape"] == [10**6]
    shared.complete("slow.")
    shared.inspect("slow")
    reply = shared.run("del slow\n1")
    assert reply.text == "1" and reply["stdout"] == ""
    shared.begin(COMPLETE, ("code", "x" * 100), ("cursor", "99999999999"))
    assert shared.finish()["status"] == "ok"


# ---- the program ----

@needs_ipython
def test_silent_cells_leave_no_trace(shared):
    count = shared.run("1")["count"]
    reply = shared.run("quiet = 5\nquiet", flags="silent")
    assert reply["events"] == [] and shared.run("quiet").text == "5"
    assert int(shared.run("2")["count"]) == int(count) + 2


@needs_ipython
def test_the_program_waits_without_threads_or_files_of_its_own(session):
    session.run("1/0")
    session.run("!true")
    assert len(os.listdir(f"/proc/{session.process.pid}/task")) == 1
    fds = pathlib.Path(f"/proc/{session.process.pid}/fd")
    links = [os.readlink(fd) for fd in fds.iterdir()]
    assert {link.split(":")[0] for link in links} == {"socket", "pipe", "/dev/null"}, links


@needs_ipython
def test_no_file_appears_in_the_directory_or_the_home(session):
    session.run("1")
    session.complete("import o")
    assert session.run("import os\nos.listdir('.'), os.listdir(os.environ['HOME'])").text == "([], [])"


@needs_ipython
def test_output_streams_while_a_command_runs(shared):
    fifo = pathlib.Path(shared.run("import os\nos.mkfifo('fifo')\nprint(os.path.abspath('fifo'))")["stdout"].strip())
    for code in ("!echo first; read line < fifo; echo $$line", "%%bash\necho first; read line < fifo; echo $line"):
        shared.begin(EXEC, ("code", code))
        shared.await_output("first")
        fifo.write_text("second\n")
        assert shared.finish()["stdout"] == "first\nsecond\n"


@needs_ipython
def test_sessions_of_one_zygote_share_no_randomness_and_no_past():
    code = ("import random, uuid, tempfile, os, asyncio\n"
            "[random.random(), str(uuid.uuid4()), next(tempfile._get_candidate_names()), In, list(Out), dir()[:2],\n"
            "os.getcwd()]")
    with tempfile.TemporaryDirectory() as home:
        seen = []
        for _ in range(2):
            with Program(IN_A_CHILD, cwd=home, env=environment(home)) as program:
                reply = program.run(code)
                assert reply["count"] == "1", reply
                seen.append(eval(reply.text))
    for one, other in zip(seen[0][:3], seen[1][:3]):
        assert one != other
    assert seen[0][3:] == [["", code], [], ["In", "Out"], home]


def test_without_ipython_the_way_to_install_it_is_told(tmp_path):
    (tmp_path / "IPython.py").write_text("raise ImportError('blocked by the test')\n")
    env = environment(str(tmp_path), PYTHONPATH=str(tmp_path))
    process = subprocess.run(["/bin/bash", "-c", 'exec 3<&0; exec "$@" </dev/null', "bash", *COMMAND], env=env,
                             timeout=60, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert process.returncode == 69 and "apt-get install python3-ipython" in process.stderr
