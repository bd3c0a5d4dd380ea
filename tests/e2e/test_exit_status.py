"""The exit status of `belljar run`: the program's own, 128+n, 124, 137, 125, 130, 64."""

import signal

import pytest

from harness import BRIEF, belljar, given_time, interrupt, run_py, run_sh, start
from hostview import descendants, process


@pytest.mark.parametrize("code", [0, 1, 2, 42, 64, 124, 125, 126, 127, 128, 130, 137, 255])
def test_status_is_the_programs(code):
    result = run_sh(f"exit {code}", json=False)
    assert (result.status, result.out, result.err) == (code, b"", b""), result


@pytest.mark.parametrize("name", ["TERM", "KILL", "SEGV", "ABRT", "PIPE", "USR1", "RTMIN"])
def test_status_is_128_plus_the_signal(name):
    number = int(getattr(signal, f"SIG{name}"))
    result = run_sh(f"kill -{name} $$", json=False)
    assert result.status == 128 + number, result


def test_signal_is_named_in_json():
    assert run_sh("kill -TERM $$").json["signal"] == "SIGTERM"
    assert run_sh("kill -KILL $$").json["signal"] == "SIGKILL"


def test_timeout_is_124():
    code = "import time\nprint('x', flush=True)\ntime.sleep(60)"
    result = given_time(lambda ms: run_py(code, timeout=f"{ms}ms", json=False), spoke=lambda r: r.out)
    assert (result.status, result.out) == (124, b"x\n"), result


def test_timeout_says_so_on_stderr():
    result = run_py("import time; time.sleep(60)", timeout=BRIEF, json=False)
    assert b"belljar" in result.err and b"time" in result.err and result.err.count(b"\n") == 1, result


def test_memory_is_137(needs):
    needs("memory")
    result = run_py("x = []\nfor _ in range(1024): x.append(bytearray(1 << 20))", memory="64m", json=False)
    assert result.status == 137 and b"memory" in result.err, result


def test_refusal_is_125():
    result = belljar("run", "/nonexistent/program.py")
    assert result.status == 125


def test_usage_is_64():
    assert belljar("run").status == 64


@pytest.mark.parametrize("how", ["group", "belljar alone"])
@pytest.mark.parametrize("sig", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP], ids=lambda s: s.name)
def test_signals_end_the_program_and_everything_it_started(host, how, sig):
    """Ctrl-C reaches the whole process group; kill PID only belljar. The program ignores every signal. However it was
    asked, a cancelled run is 130."""
    code = """\
import signal
for n in range(1, 32):
    try: signal.signal(n, signal.SIG_IGN)
    except OSError: pass
"""
    code += "import os, time\nos.fork()\nos.write(1, b'go\\n')\ntime.sleep(50)"
    with start(code, json=False, timeout="50s") as running:
        running.read_line()
        family = [p for p in descendants(running.pid) if p.pid != running.pid]
        assert any("python" in p.comm for p in family), family
        if how == "group":
            import os

            os.killpg(running.pid, sig)
        else:
            running.popen.send_signal(sig)
        result = running.finish(within=20)
        assert result.status == 130, result
        # A dead process that waits for its new parent to reap it counts as gone.
        alive = [p for p in family if (now := process(p.pid)) and now.start == p.start and now.state != "Z"]
        assert not alive, f"survived: {alive}"


def test_ctrl_c_is_130_and_quick(host):
    with start("print('go', flush=True)\nimport time\ntime.sleep(50)", json=False, timeout="50s") as running:
        assert running.read_line() == "go"
        interrupt(running)
        assert running.finish(within=10).status == 130


def test_second_ctrl_c_does_no_harm(host):
    with start("print('go', flush=True)\nimport time\ntime.sleep(50)", json=False, timeout="50s") as running:
        assert running.read_line() == "go"
        for _ in range(20):
            interrupt(running)
        assert running.finish(within=10).status in (130, -2)


def test_ctrl_c_during_start_leaves_nothing(host):
    """The signal comes at any moment of the start."""
    import time

    for delay_ms in range(0, 40, 2):
        with start("import time\ntime.sleep(50)", json=False, timeout="50s") as running:
            time.sleep(delay_ms / 1000)
            interrupt(running)
            assert running.finish(within=20).status in (130, -2), delay_ms
