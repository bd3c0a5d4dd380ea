"""`belljar run` with a service about: by the service, with the same result as without it (R8.2)."""

import json
import subprocess

import pytest

import harness
from harness import Running, eventually, interrupt


@pytest.fixture
def program(public_path):
    def write(code, name="p.py"):
        path = public_path / name
        path.write_bytes(code if isinstance(code, bytes) else code.encode())
        path.chmod(0o644)
        return path

    return write


def surfaces(service):
    return [r["id"] for r in service.get("/v1/runs", {"limit": 1000}).json["runs"]]


def both(service, *args, stdin=None):
    """The same command through the service and locally; where each left its trace is checked on the way."""
    before = surfaces(service)
    by_service = service.cli("run", *args, stdin=stdin)
    between = surfaces(service)
    local = service.cli("run", "--local", *args, stdin=stdin)
    assert len(between) == len(before) + 1, by_service
    assert surfaces(service) == between, local
    return by_service, local


@pytest.mark.parametrize("code, status", [
    ("print('out')\nimport sys\nprint('err', file=sys.stderr)", 0), ("raise SystemExit(7)", 7),
    ("import os\nos.kill(os.getpid(), 11)", 139), ("import sys\nsys.stdout.buffer.write(bytes(range(256)))", 0),
])
def test_run_by_the_service_is_the_same_as_without_it(service, program, code, status):
    a, b = both(service, program(code))
    assert (a.status, a.out, a.err) == (b.status, b.out, b.err) and a.status == status, (a, b)


def test_run_by_the_service_takes_stdin(service, program):
    data = bytes(range(256)) * 5000
    a, b = both(service, program("import sys\nsys.stdout.buffer.write(sys.stdin.buffer.read())"), stdin=data)
    assert a.out == b.out == data


def test_run_by_the_service_takes_arguments_files_and_environment(service, program, public_path):
    (public_path / "data.bin").write_bytes(b"\xff\0x")
    path = program("import sys, os\nprint(sys.argv[1:], os.environ['A'], open('d/x', 'rb').read())")
    a, b = both(service, "--env", "A=ü 1", "--file", f"{public_path}/data.bin:d/x", path, "--", "a b", "--c", "")
    assert a.out == b.out == "['a b', '--c', ''] ü 1 b'\\xff\\x00x'\n".encode()


def test_run_by_the_service_keeps_files_executable(service, program, public_path):
    tool = program("#!/bin/sh\necho from a tool", "tool")
    tool.chmod(0o755)
    a, b = both(service, "--file", tool, program("./tool", "p.sh"))
    assert (a.status, a.out, a.err) == (b.status, b.out, b.err) == (0, b"from a tool\n", b""), (a, b)


def test_run_by_the_service_fetches_outputs(service, program, public_path):
    data = bytes(range(256)) * 100
    path = program("open('made', 'wb').write(bytes(range(256)) * 100)")
    for how in ([], ["--local"]):
        target = public_path / "".join(["target", *how])
        result = service.cli("run", *how, "--out", f"made:{target}", path)
        assert result.status == 0 and target.read_bytes() == data, result


def test_run_by_the_service_gives_the_same_json(service, program):
    a, b = both(service, "--json", program("print('x')"))
    a, b = json.loads(a.out), json.loads(b.out)
    assert set(b) <= set(a)
    for key in set(b) - {"id", "usage", "started_at", "start"}:
        assert a[key] == b[key], key


@pytest.mark.parametrize("option, value, code, verdict, status", [
    ("--timeout", "500ms", "import time\ntime.sleep(60)", "timeout", 124),
    ("--output", "1k", "print('x' * 5000)", "output_limit", 153),
])
def test_run_by_the_service_keeps_limits(service, program, option, value, code, verdict, status):
    a, b = both(service, option, value, program(code))
    assert (a.status, a.out) == (b.status, b.out) and a.status == status and a.message == b.message, (a, b)
    assert json.loads(service.cli("run", "--json", option, value, program(code)).out)["verdict"] == verdict


def test_run_by_the_service_refuses_alike(service, program):
    for args, status in ((["--memory", "0"], 64), (["-l", "cobol"], 64), (["--file", "/nonexistent"], 125)):
        path = program("print(1)")
        a, b = service.cli("run", *args, path), service.cli("run", "--local", *args, path)
        assert (a.status, a.out, a.message) == (b.status, b.out, b.message) and a.status == status, (a, b)


def test_run_by_the_service_streams(service, program):
    env = {**service.environ, "BELLJAR_STATE": str(service.state)}
    code = "print('first', flush=True)\ninput()\nprint('second')"
    with Running([harness.BELLJAR, "run", program(code)], environ=env, stdin=subprocess.PIPE) as running:
        assert running.read_line() == "first"
        result = running.finish(b"\n")
    assert (result.status, result.out) == (0, b"second\n")


def test_ctrl_c_cancels_the_run_in_the_service(service, program):
    env = {**service.environ, "BELLJAR_STATE": str(service.state)}
    with Running([harness.BELLJAR, "run", program("""\
print('go', flush=True)
import time
time.sleep(60)""")], environ=env) as running:
        assert running.read_line() == "go"
        run_id = surfaces(service)[0]
        interrupt(running)
        assert running.finish().status == 130
    assert eventually(lambda: service.get(f"/v1/runs/{run_id}").json["verdict"] == "cancelled")


def test_run_without_a_service_runs_here(start_service, program):
    s = start_service()
    path = program("print('here')")
    s.stop()
    result = s.cli("run", path)
    assert (result.status, result.out, result.err) == (0, b"here\n", b"")


# ---- belljar fix ----

SHOP = 'def total(items):\n    return sum(item["prize"] for item in items)\n\nprint(input(), total([{"price": 3}]))\n'


def test_fix_shows_the_change_and_makes_it_when_asked(service, program, public_path):
    path = program(SHOP, "shop.py")
    path.chmod(0o755)
    (public_path / "link.py").symlink_to(path)
    (public_path / "in.txt").write_text("sum\n")
    shown = service.cli("fix", public_path / "link.py", "--stdin", public_path / "in.txt")
    assert shown.status == 0 and b'+    return sum(item["price"] for item in items)\n' in shown.out, shown
    assert b"cures the error" in shown.out and path.read_text() == SHOP
    made = service.cli("fix", "--apply", public_path / "link.py", "--stdin", public_path / "in.txt")
    assert made.status == 0 and path.read_text() == SHOP.replace("prize", "price"), made
    assert path.stat().st_mode & 0o777 == 0o755 and (public_path / "link.py").is_symlink()
    assert [p.name for p in public_path.iterdir() if "belljar" in p.name] == []
    again = service.cli("fix", path, "--stdin", public_path / "in.txt")
    assert again.status == 0 and b"nothing to fix" in again.out


def test_fix_without_a_cure_changes_nothing(service, program, public_path):
    path = program('d = {"price": 1}\nprint(d["prize"])\nprint(d["none"])\n')
    tried = service.cli("fix", "--apply", path)
    assert tried.status == 1 and b"moves the error to line 3" in tried.out, tried
    assert b"no suggestion cures" in tried.out and "prize" in path.read_text()
    text = public_path / "answer.md"
    text.write_text("Here:\n\n```python\n" + SHOP + "```\n")
    refused = service.cli("fix", "--apply", text)
    assert refused.status != 0 and b"not the program itself" in refused.err and "prize" in text.read_text()


def test_run_with_fix_tells_the_outcomes(service, program):
    path = program(SHOP)
    run = service.cli("run", "--fix", path, stdin=b"sum\n")
    assert run.status == 1 and b"tried: this cures the error" in run.err, run
    result = json.loads(service.cli("run", "--fix", "--json", path, stdin=b"sum\n").out)
    assert result["fixes"]["best"] == 0
    both_ways = service.cli("run", "--fix", "--strict", path)
    assert both_ways.status == 64 and b"--fix and --strict" in both_ways.err, both_ways
