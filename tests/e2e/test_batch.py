"""`belljar batch`: one program on many inputs, by a service or alone."""

import json
import os
import shutil
import signal

import pytest

import harness
from harness import BELLJAR, ROOT, Running, belljar, eventually
from hostview import descendants
from service import Service
from terminal import Terminal

SQUARE = "n = int(input())\nprint(n * n)\n"


@pytest.fixture(scope="module")
def s():
    with Service("--set", "pools.max=0") as service:
        yield service


@pytest.fixture
def work(public_path):
    (public_path / "square.py").write_text(SQUARE)
    tests = public_path / "tests"
    tests.mkdir()
    for name, text in {"2.in": "3", "2.out": "10\n", "1.in": "2", "1.ans": "4  \n\n", "10.in": "5", "x.in": "x",
                       "notes": "no input", ".hidden.in": "7"}.items():
        (tests / name).write_text(text)
    return public_path


def rows(result):
    header, *lines, end = result.out.decode().splitlines()
    assert header.split() == ["INPUT", "RESULT", "TIME", "MEMORY"], result
    return {line.split()[0]: line for line in lines}, end


def batch(s, *argv, **how):
    return belljar("batch", "--state", s.state, *argv, **how)


def test_batch_judges_each_input_of_a_directory(s, work):
    """R1.8, R8.2"""
    result = batch(s, work / "square.py", work / "tests")
    found, end = rows(result)
    assert list(found) == ["1", "2", "10", "x"] and end.startswith("2 of 4 passed ("), result
    assert found["1"].split()[1] == "passed" and found["10"].split()[1] == "ok", result
    assert found["2"].split()[1] == "wrong" and found["2"].endswith("line 1: expected '10', got '9'"), result
    assert found["x"].split()[1] == "runtime_error" and " ms " in found["x"] and " MiB" in found["x"], result
    assert result.status == 1 and result.err == b"", result
    stopped = batch(s, "--stop", "-j", "1", work / "square.py", work / "tests")
    assert stopped.status == 1 and b"skipped" in stopped.out and b"2 did not run to their end" in stopped.out, stopped


def test_batch_takes_files_lists_and_arguments(s, work):
    """R1.8, R8.2"""
    (work / "args.py").write_text("import sys\nprint(sys.argv[1:], sys.stdin.buffer.read().hex())\n")
    (work / "raw.bin").write_bytes(b"\xff\x00")
    (work / "raw.bin.expected").write_text("['a'] ff00\n")
    (work / "list.json").write_text(json.dumps({"inputs": [
        {"name": "own", "args": ["b", "c"], "stdin": "1", "expected": "['b', 'c'] 31"}, {"stdin": ""}]}))
    good = batch(s, work / "args.py", work / "raw.bin", work / "list.json", "--", "a")
    found, end = rows(good)
    assert good.status == 0 and end.startswith("3 of 3 passed"), good
    assert [line.split()[1] for line in found.values()] == ["passed", "passed", "ok"], good
    exact = batch(s, "--compare", "exact", work / "args.py", work / "list.json", "--", "a")
    assert exact.status == 1 and b"wrong" in exact.out, exact
    answer = batch(s, "--json", "--memory", "64m", work / "square.py", work / "tests" / "1.in")
    one = json.loads(answer.out)
    assert answer.status == 0 and one["summary"]["passed"] == 1 and one["results"][0]["name"] == "1", answer
    assert one["results"][0]["limits"]["memory"] == 64 << 20
    assert s.get(f"/v1/batches/{one['id']}").json["finished"] is True


def test_batch_without_a_service_starts_a_private_one(work):
    """R8.2"""
    scratch = work / "scratch"  # of this test alone: others have private services, too
    scratch.mkdir(mode=0o755)
    result = belljar("batch", "--local", work / "square.py", work / "tests" / "1.in", work / "tests" / "2.in",
                     environ={**os.environ, "TMPDIR": str(scratch)})
    found, _ = rows(result)
    assert result.status == 1 and [line.split()[1] for line in found.values()] == ["passed", "wrong"], result
    assert not os.listdir(scratch)


def test_runs_of_many_have_the_mounts_and_limits_of_the_command(s, work):
    """R4.4. A service that runs does not know the caller's directories: a private one has them as its roots."""
    shown = work / "shown"
    shown.mkdir()
    (shown / "number").write_text("42")
    (work / "reads.py").write_text("print(open('/mnt/shown/number').read())")
    (work / "fails.py").write_text("print(open('/mnt/shown/number').read(), nmae)\nname = 1\n")
    for options in ((), ("--local",)):
        one = json.loads(batch(s, "--json", *options, "--mount", shown, "--timeout", "2h", work / "reads.py",
                               work / "tests" / "1.in").out)["results"][0]
        assert one["stdout"] == "42\n" and one["limits"]["wall_ms"] == 7200000, one
    two = belljar("compare", "--json", "--state", s.state, "-n", "1", "--mount", shown, work / "reads.py",
                  work / "reads.py")
    assert two.status == 0, two
    bench = belljar("run", "--json", "--state", s.state, "--bench", "1", "--mount", shown, work / "reads.py")
    assert bench.status == 0, bench
    fix = belljar("fix", "--state", s.state, "--mount", shown, work / "fails.py")
    assert b"nmae" in fix.out + fix.err and b"number'" not in fix.err, fix


def test_bad_batches_are_refused_with_one_sentence(s, work):
    """R8.2"""
    (work / "empty").mkdir()
    (work / "bad.json").write_text("[{]")
    (work / "none.json").write_text("[]")
    (work / "odd.json").write_text('["1"]')
    (work / "wrong.json").write_text('[{"stdin": "1", "expect": "1"}]')
    (work / "t.in").write_text("1")
    (work / "t.out").write_bytes(b"\xff")
    os.mkfifo(work / "pipe.in")
    program = work / "square.py"
    for argv, said in (([], "needs a program and its inputs"), ([program], "needs a program and its inputs"),
                       ([program, work / "empty"], "has no input"), ([program, "/nonexistent"], "/nonexistent"),
                       ([program, work / "bad.json"], "is no JSON"), ([program, work / "none.json"], "has no inputs"),
                       ([program, work / "odd.json"], "input 1 is no object"),
                       ([program, work / "wrong.json"], "expect"), ([program, work / "t.in"], "is not UTF-8"),
                       ([program, work / "pipe.in"], "no regular file"),
                       (["--compare", "much", program, work / "tests"], "trim, exact and tokens"),
                       (["-j", "0", program, work / "tests"], "--jobs '0'"),
                       (["--stdin", "x", program, work / "tests"], "--stdin")):
        result = batch(s, *argv)
        text = result.err.decode()
        assert result.status in (64, 125) and text.count("\n") == 1 and said in text, result
        assert b"of" not in result.out, result


def test_cancelled_batch_ends_its_runs_and_was_read_without_rights(s, work):
    """R1.6, R8.2"""
    (work / "wait.py").write_text("import time\ntime.sleep(60)\n")
    argv = [BELLJAR, "batch", "--timeout", "60s", work / "wait.py", work / "tests", "--state", s.state]
    with Running([str(a) for a in argv]) as running:
        assert eventually(lambda: s.get("/v1/stats").json["now"]["running"] > 0, 30)
        readers = [p for p in descendants(running.pid) if p.ppid == running.pid]
        assert len(readers) == 1
        status = dict(line.split(":", 1) for line in open(f"/proc/{readers[0].pid}/status", encoding="utf-8"))
        assert status["NoNewPrivs"].strip() == "1"
        assert harness.ASAN or status["Seccomp"].strip() == "2"  # the sanitizers need more system calls
        assert not ROOT or "0" not in status["Uid"].split()
        os.kill(running.pid, signal.SIGINT)
        ended = running.finish()
    assert ended.status == 130 and b"cancelled" in ended.err, ended
    assert eventually(lambda: s.get("/v1/stats").json["now"]["running"] == 0, 30)


def test_outputs_of_a_batch_cannot_drive_the_terminal(s, work):
    (work / "evil.py").write_text("print('\\x1b]0;evil\\x07\\u202e')\n")
    result = batch(s, work / "evil.py", work / "tests" / "1.in")
    assert b"<U+001B>" in result.out and b"\x1b" not in result.out and "\u202e".encode() not in result.out, result


def test_table_of_a_batch_fills_on_a_terminal(s, work):
    """R8.2"""
    if not shutil.which("tmux"):
        pytest.skip("tmux is not installed: apt-get install tmux")
    environ = {"BELLJAR_STATE": s.state, "TERM": "tmux-256color"}
    with Terminal(["sh", "-c", f"{harness.BELLJAR} batch square.py tests; cat"], work, 60, environ) as t:
        assert eventually(lambda: "of 4 passed" in t.screen(), 30), t.screen()
        shown = t.screen()
        lines = [line.rstrip() for line in shown.splitlines() if line.strip()]
        assert [line.split()[:2] for line in lines[1:5]] == [["1", "passed"], ["2", "wrong"], ["10", "ok"],
                                                             ["x", "runtime_error"]], shown
        assert "..." not in shown and max(map(len, lines)) < 60, shown
