"""Displays of one-shot runs (`"display": true`, `--display`): figures and tables without a session."""
import base64

import pytest

from harness import run_py, run_sh
from service import Service

CODE = """
import sys
print('args', sys.argv[1:], input())
display({'text/plain': 'p', 'application/json': {'a': [1]}}, raw=True)
handle = display('first', display_id='one')
handle.update('second')
{'last': 1}
"""


def displayed(code, args=(), status=0):
    result = run_py(code, display=True, args=args, stdin=b"line\n").json
    assert result["exit_code"] == status, result
    return result


def test_displays_of_a_run_are_kept_in_order():
    result = displayed(CODE, ["x"])
    assert result["stdout"] == "args ['x'] line\n" and result["verdict"] == "ok"
    data = [display["data"] for display in result["displays"]]
    assert data == [{"text/plain": "p", "application/json": {"a": [1]}}, {"text/plain": "'second'"},
                    {"text/plain": "{'last': 1}"}]
    assert result["displays"][1]["display_id"] == "one"


def test_a_plot_of_a_run_needs_no_session():
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    result = displayed("import matplotlib.pyplot as plt\nplt.plot([1, 2]);")
    (figure,) = result["displays"]
    assert base64.b64decode(figure["data"]["image/png"]).startswith(b"\x89PNG")


def test_errors_and_statuses_are_those_of_a_run():
    result = displayed("display(1)\ndef f():\n    return 1 / 0\nf()", status=1)
    assert result["diagnosis"]["location"]["line"] == 3 and "ZeroDivisionError" in result["stderr"], result["diagnosis"]
    assert 'File "/sandbox/main.py", line 3, in f' in result["stderr"] and len(result["displays"]) == 1
    assert displayed("import sys\nsys.exit(7)", status=7)["displays"] == []


def test_display_is_refused_where_a_language_has_none():
    done = run_sh("echo", display=True)
    assert done.status != 0 and b"display is only for python" in done.err, done


def test_forged_displays_are_ignored():
    code = ("import atexit, json\natexit.register(lambda: open('/sandbox/.belljar-report.json', 'w').write(%s))\n1")
    for forged in ("'{'", "json.dumps({'displays': [{'data': 1}]})", "json.dumps({'displays': [{'data': {}, 'x': 1}]})",
                   "json.dumps({'displays': [{'data': {}}] * 257})", "json.dumps({'displays': {}})", "'x' * (4 << 20)"):
        result = displayed(code % forged)
        assert result["verdict"] == "ok" and result["displays"] == [], forged
    assert displayed(code % "json.dumps({'displays': [{'data': {}}]})")["displays"] == [{"data": {}}]


def test_service_keeps_displays_of_a_run_and_starts_it_warm():
    with Service("--set", "pools.preload=python-session") as s:
        result = s.run("import pandas\npandas.DataFrame({'a': [1]})", language="python", display=True)
        assert "<table" in result["displays"][0]["data"]["text/html"] and result["start"] in ("warm", "hatched", "cold")
        assert s.get(f"/v1/runs/{result['id']}").json["displays"] == result["displays"]
        assert s.run("1", language="python")["displays"] is None
        refusal = s.run("x", language="bash", display=True, status=400)
        assert refusal["error"]["field"] == "display"
