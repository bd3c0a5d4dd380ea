"""Python sessions in jars: cells that end, flood or attack their program, and two sessions side by side."""
import json
import time

import pytest
from service import Service
from sessions import create, execute

pytestmark = pytest.mark.release_only  # IPython starts cold there: every session would take seconds


@pytest.fixture(scope="module")
def service():
    with Service("--set", "runs.max=8", "--set", "pools.preload=python-session") as s:
        yield s


@pytest.fixture
def session(service):
    name = create(service)
    yield name
    service.delete(f"/v1/sessions/{name}")


@pytest.fixture(scope="module")
def neighbour(service):
    name = create(service)
    execute(service, name, "kept = 'mine'")
    return name


ENDS = {
    "exit": "import os\nos._exit(3)",
    "exec": "import os\nos.execv('/bin/true', ['true'])",
    "kill": "import os\nos.kill(os.getpid(), 9)",
    "segfault": "import ctypes\nctypes.string_at(0)",
    "memory": "x = bytearray(2 * 10**9)\nfor i in range(0, len(x), 4096): x[i] = 1",
    "forged": "import os\nos.write(200, b'x' * 50)\nimport time; time.sleep(60)",
    "closed": "import os\nos.closerange(3, 1 << 20)",
}


@pytest.mark.parametrize("code", ENDS.values(), ids=ENDS)
def test_a_cell_that_ends_its_program_is_told_and_harms_no_neighbour(service, session, neighbour, code):
    execute(service, session, "x = 1")
    cell = execute(service, session, code)
    assert cell["status"] in ("lost", "error") and (cell["notes"] or cell["error"]), cell
    if cell["status"] == "lost":
        reply = service.post(f"/v1/sessions/{session}/exec", {"code": "x"})
        assert reply.status == 410 and reply.error["message"], reply
        assert "os.kill" not in code or "killed by signal 9 (SIGKILL)" in cell["notes"][0], cell
    else:  # the allocation was refused, and the session lives
        assert cell["error"]["name"] == "MemoryError", cell
    assert execute(service, neighbour, "kept")["result"]["text/plain"] == "'mine'"


FLOODS = {
    "output": "for i in range(300): print('x' * 10**6)",
    "displays": "for i in range(3000): display({'text/plain': 'x', 'image/png': b'y' * 1000}, raw=True)",
    "daemons": "import os\nfor i in range(5):\n    if not os.fork():\n        os.setsid()\n"
               "        os.execv('/bin/sleep', ['sleep', '1000'])",
    "threads": "from threading import *\nfor i in range(5): Thread(target=Event().wait, daemon=True).start()",
    "recursion": "def r(): return r()\nr()",
    "stdout": "import sys\nsys.stdout.close()",
    "builtins": "import builtins\ndel builtins.len",
    "files": "import shutil\nshutil.rmtree('/sandbox', ignore_errors=True)",
}


@pytest.mark.parametrize("code", FLOODS.values(), ids=FLOODS)
def test_a_cell_that_floods_or_breaks_its_program_leaves_the_session_alive(service, session, neighbour, code):
    execute(service, session, "x = 41")
    cell = execute(service, session, code, timeout=10)
    assert cell["status"] in ("ok", "error", "interrupted", "timeout"), cell
    assert execute(service, session, "print(x)\nx + 1")["stdout"] == "41\n"
    assert execute(service, neighbour, "kept")["result"]["text/plain"] == "'mine'"


SHOWN = {
    "application/vnd.plotly.v1+json": ("plotly", "import plotly.graph_objects as g\ng.Figure(g.Bar(y=[1])).show()"),
    "image/png": ("matplotlib", "import matplotlib.pyplot as plt\nplt.plot([1, 2]);"),
    "image/svg+xml": (None, "display(SVG('<svg xmlns=\"http://www.w3.org/2000/svg\"/>'))"),
    "text/markdown": (None, "display(Markdown('*a*'))"),
    "text/latex": (None, "display(Latex('$a$'))"),
    "application/json": (None, "display(JSON({'a': [1]}))"),
    "image/jpeg": (None, "display(Image(b'\\xff\\xd8\\xff' + bytes(9), format='jpeg'))"),
    "text/html": ("pandas", "import pandas\ndisplay(pandas.DataFrame({'a': [1]}))"),
    # as ipywidgets does it: a client without comms shows the text
    "application/vnd.jupyter.widget-view+json": (None, """
class Slider:
    def _repr_mimebundle_(self, **_):
        return {'text/plain': 'IntSlider(value=3)', 'application/vnd.jupyter.widget-view+json': {'model_id': 'm'}}
display(Slider())"""),
}


@pytest.mark.parametrize("mime", SHOWN)
def test_every_kind_of_display_comes_out_of_a_jar_without_a_complaint(service, neighbour, mime):
    library, code = SHOWN[mime]
    if library:
        pytest.importorskip(library)
    cell = execute(service, neighbour, "from IPython.display import *\n" + code, timeout=60)
    assert cell["status"] == "ok" and cell["stderr"] == "" and cell["notes"] == [], cell
    (shown,) = cell["displays"]
    assert shown["data"][mime] and (mime.endswith("plotly.v1+json") or shown["data"]["text/plain"]), shown


def test_events_of_text_and_displays_have_the_order_of_the_cell(service, session):
    code = "for i in range(20):\n    print('a', i); display(i); print('b', i)"
    reply = service.post(f"/v1/sessions/{session}/exec", {"code": code, "stream": True})
    text = ""
    for line in reply.body.decode().splitlines():
        event = json.loads(line)
        kind = event.get("event") or event.get("type")
        if kind == "stdout":
            text += event.get("text") or event.get("data")
        elif kind == "display":
            text += f"<{event['data']['text/plain']}>"
    assert text == "".join(f"a {i}\n<{i}>b {i}\n" for i in range(20)), reply.body[:2000]


def test_sessions_of_the_pool_share_no_randomness(service):
    code = ("import random, uuid, os, ssl, sys, tempfile\n"
            "try: import numpy.random as n; more = n.rand()\nexcept ImportError: more = random.random()\n"
            "print('belljar_warm' in sys.modules, random.random(), more, uuid.uuid4(), os.urandom(4).hex(),\n"
            "      next(tempfile._get_candidate_names()), ssl.RAND_bytes(8).hex())")
    seen, warm, deadline = [], 0, time.monotonic() + 60
    while warm < 4 and time.monotonic() < deadline:  # the first ones may start cold
        name = create(service)
        is_warm, *values = execute(service, name, code)["stdout"].split()
        service.delete(f"/v1/sessions/{name}")
        seen += values
        warm += is_warm == "True"
    assert len(seen) % 6 == 0 and len(set(seen)) == len(seen), seen
    if warm < 4:
        pytest.skip("the machine is so busy that no four sessions started warm in a minute")
