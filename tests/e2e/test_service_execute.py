"""/execute as in the local sandbox of the NeMo Agent Toolkit, without its mistakes (R8.1)."""

import json
import os
import re
import subprocess
import time
from pathlib import Path

import pytest

import harness
from harness import PATIENCE, eventually, given_time
from service import Service, in_threads, since

EVERY_HEADER = {
    "X-Content-Type-Options": "nosniff", "X-Frame-Options": "SAMEORIGIN",
}


def execute(service, code, timeout=10, language="python", status=200, key=None, **more):
    body = {"generated_code": code, "timeout": timeout, "language": language, **more}
    reply = service.post("/execute", {k: v for k, v in body.items() if v is not None}, key=key)
    assert reply.status == status, reply
    assert list(reply.json) == ["process_status", "stdout", "stderr"], reply
    return reply.json


def is_completed(answer, stdout):
    assert answer == {"process_status": "completed", "stdout": stdout, "stderr": ""}, answer


# ---- the wire ----


def test_execute_answers_in_the_exact_form(service):
    reply = service.post("/execute", {"generated_code": "print('hi')", "timeout": 10, "language": "python"})
    assert reply.body.rstrip(b"\n") == b'{"process_status":"completed","stdout":"hi\\n","stderr":""}'
    assert (reply.status, reply.headers["Content-Type"].split(";")[0]) == (200, "application/json")
    assert {k: reply.headers[k] for k in EVERY_HEADER} == EVERY_HEADER


def test_execute_root_says_ok(service):
    reply = service.get("/")
    assert (reply.status,
            reply.json) == (200, {"status": "ok"}) and {k: reply.headers[k] for k in EVERY_HEADER} == EVERY_HEADER


def test_execute_takes_only_post(service):
    for method in ("GET", "PUT", "DELETE"):
        reply = service.request(method, "/execute")
        assert reply.status == 405 and "POST" in reply.headers["Allow"], reply


JSON = "application/json"


@pytest.mark.parametrize("body, kind, stderr", [
    (b'{"generated_code":"print(1)","timeout":5}', "text/plain", "Request must be JSON"),
    (b"", "text/plain", "Request must be JSON"),
    (b"{}", "application/x-www-form-urlencoded", "Request must be JSON"),
    (b"", JSON, "Invalid JSON data"),
    (b"null", JSON, "Invalid JSON data"),
    (b"{", JSON, "Invalid JSON data"),
    (b'{"generated_code": "x"} x', JSON, "Invalid JSON data"),
    (b"{}", JSON, "Missing required field: generated_code"),
    (b'{"timeout":5}', JSON, "Missing required field: generated_code"),
    (b'{"language":"cobol"}', JSON, "Missing required field: generated_code"),
    (b'{"generated_code":"x"}', JSON, "Missing required field: timeout"),
    (b'{"generated_code":"x","language":"cobol"}', JSON, "Missing required field: timeout"),
    (b'{"generated_code":"x","timeout":5,"language":"cobol"}', JSON, "Only python execution is supported"),
    (b'{"generated_code":"x","timeout":5,"language":""}', JSON, "Only python execution is supported"),
], ids=lambda v: repr(v)[:48] if isinstance(v, bytes) else None)
def test_execute_refuses_in_the_exact_words(service, body, kind, stderr):
    reply = service.request("POST", "/execute", body, headers={"Content-Type": kind})
    assert (reply.status, reply.json) == (400, {"process_status": "error", "stdout": "", "stderr": stderr}), reply
    assert list(reply.json) == ["process_status", "stdout", "stderr"]


@pytest.mark.parametrize("field, value", [
    ("generated_code", 1), ("generated_code", []), ("generated_code", {}), ("generated_code", True), ("timeout", "5"),
    ("timeout", "x"),
    ("timeout", True), ("timeout", []), ("timeout", 0), ("timeout", -1), ("timeout", 1e308), ("timeout", 10**9),
    ("language", 1),
    ("language", []), ("max_output_characters", "x"), ("max_output_characters", -1), ("std_input", 1),
], ids=str)
def test_execute_refuses_wrong_types_with_a_sentence(service, field, value):
    body = {"generated_code": "print('STARTED')", "timeout": 5, "language": "python", field: value}
    reply = service.post("/execute", body)
    if (field, value) == ("timeout", "5") and reply.status == 200:
        return  # a number written as text is understood
    assert reply.status == 400 and reply.json["process_status"] == "error" and reply.json["stdout"] == "", reply
    assert field in reply.json["stderr"] or "code" in reply.json["stderr"], reply
    assert "STARTED" not in reply.json["stderr"]


def test_execute_ignores_unknown_fields(service):
    is_completed(execute(service, "print(1)", traceback_verbosity="Plain", whatever=[1]), "1\n")


@pytest.mark.parametrize("field, value, instead", [
    ("limits", {"memory": "64m"}, "/v1/runs"), ("stream", True, "/v1/runs"), ("stdin", "x", "std_input")])
def test_execute_refuses_fields_of_runs_that_it_does_not_have(service, field, value, instead):
    """They would have no effect, and the caller would not know."""
    body = {"generated_code": "print(1)", "timeout": 5}
    reply = service.post("/execute", {**body, field: value})
    said = reply.json["stderr"]
    assert reply.status == 400 and f"{field} is not accepted here" in said and instead in said, reply
    assert service.post("/execute", {**body, field: None}).json["stdout"] == "1\n"


def test_execute_language_defaults_to_python(service):
    is_completed(execute(service, "print(1)", language=None), "1\n")


def test_execute_runs_our_other_languages_too(service):
    is_completed(execute(service, "echo $((1 + 1))", language="bash"), "2\n")
    is_completed(execute(service, "console.log(1 + 1)", language="javascript"), "2\n")


def test_execute_timeout_may_be_a_fraction(service):
    code = "import time\nprint('so far', flush=True)\ntime.sleep(60)"
    start = time.monotonic()
    answer = given_time(lambda ms: execute(service, code, timeout=ms / 1000), 500, spoke=lambda a: a["stdout"])
    assert answer == {"process_status": "timeout", "stdout": "so far\n",
                      "stderr": "Timed out\n"} and since(start) < 30 * PATIENCE


def test_execute_exception_keeps_stdout(service):
    answer = execute(service, "print('before')\n1 / 0")
    assert (answer["process_status"], answer["stdout"]) == ("error", "before\n")
    assert answer["stderr"].startswith("Traceback (most recent call last):")
    assert answer["stderr"].rstrip().endswith("ZeroDivisionError: division by zero")


@pytest.mark.parametrize("code, kind", [("def", "SyntaxError"), ("if True:\nprint(1)", "IndentationError"),
                                        ("x = (1,", "SyntaxError")])
def test_execute_syntax_error_starts_like_a_traceback(service, code, kind):
    answer = execute(service, code)
    assert answer["process_status"] == "error" and answer["stdout"] == ""
    assert answer["stderr"].startswith("Traceback (most recent call last):") and kind in answer["stderr"]


def test_execute_max_output_characters(service):
    assert execute(service, "print('ü' * 5000, end='')",
                   max_output_characters=1000)["stdout"] == "ü" * 1000 + "<output cut>"
    assert execute(service, "print('x' * 1000, end='')", max_output_characters=1000)["stdout"] == "x" * 1000
    assert execute(service, "print('x' * 5000, end='')")["stdout"] == "x" * 5000


def test_execute_std_input(service):
    is_completed(execute(service, "print(input())", std_input="read\n"), "read\n")


# ---- code as models send it ----


@pytest.mark.parametrize("code", [
    "{'generated_code': 'print(1)'}", '{"generated_code": "print(1)"}', """\
```python
print(1)
```""", """\
```
print(1)
```""",
    """\
```py
print(1)
```""", """\
```python3
print(1)
```""", """\
Here it is:
```python
print(1)
```
Enjoy!""", "  \nprint(1)",
    """\
{'generated_code': '```python\\nprint(1)\\n```'}""", '{"generated_code": "print(1)", "timeout": 5}', """\
```Python\r
print(1)\r
```""",
], ids=repr)
def test_execute_unwraps_payloads(service, code):
    """R1.11"""
    is_completed(execute(service, code), "1\n")


@pytest.mark.parametrize("code, stdout", [
    ("python = 3\nprint(python)", "3\n"), ("pythonic = 1\nprint(pythonic)", "1\n"),
    ("print('```python')\nprint('x')\nprint('```')", "```python\nx\n```\n"),
    ("x = {'generated_code': 'no'}\nprint(x['generated_code'])", "no\n"), ("{'generated_code': 1}\nprint(2)", "2\n"),
    ("s = '''\n```python\nprint(9)\n```\n'''\nprint(len(s))", "24\n"),
], ids=repr)
def test_execute_does_not_mangle_code(service, code, stdout):
    is_completed(execute(service, code), stdout)


# ---- the shared directory ----


def test_execute_files_persist_between_calls(start_service):
    s = start_service()
    is_completed(execute(s, """\
import os
os.makedirs('d')
open('d/f.bin', 'wb').write(bytes(range(256)))
print('ok')"""), "ok\n")
    is_completed(execute(s, "print(open('d/f.bin', 'rb').read() == bytes(range(256)))"), "True\n")
    assert (s.workspace / "d/f.bin").read_bytes() == bytes(range(256))
    is_completed(execute(s, "open('d/f.bin', 'w').write('changed')"), "")
    is_completed(execute(s, "import os\nos.remove('d/f.bin')\nprint(os.listdir('d'))"), "[]\n")
    assert not (s.workspace / "d/f.bin").exists()
    (s.workspace / "given.txt").write_text("from outside")
    is_completed(execute(s, "print(open('given.txt').read())"), "from outside\n")


def test_execute_files_survive_a_failure_and_a_restart(start_service):
    s = start_service()
    execute(s, "open('kept', 'w').write('1')\nraise SystemExit(3)")
    s.restart()
    is_completed(execute(s, "print(open('kept').read())"), "1\n")


def test_execute_keeps_large_files_modes_and_empty_directories(start_service):
    """Files of any size within the quota; an executable stays one; a directory without a file stays."""
    s = start_service()
    is_completed(execute(s, """\
import os
open('large', 'wb').write(b'x' * (20 << 20))
open('tool', 'w').write('#!/bin/sh\\necho ran\\n')
os.chmod('tool', 0o755)
os.makedirs('a/empty')
print('ok')""", timeout=30), "ok\n")
    assert (s.workspace / "large").stat().st_size == 20 << 20 and (s.workspace / "a/empty").is_dir()
    assert (s.workspace / "tool").stat().st_mode & 0o777 == 0o755
    is_completed(execute(s, """\
import os, subprocess
print(os.path.getsize('large'), os.listdir('a/empty'), subprocess.check_output('./tool'))
os.rmdir('a/empty')
os.rmdir('a')
os.chmod('tool', 0o444)""", timeout=30), f"{20 << 20} [] b'ran\\n'\n")
    assert not (s.workspace / "a").exists()
    is_completed(execute(s, "import os\nprint(oct(os.stat('tool').st_mode & 0o777), os.path.exists('a'))", timeout=30),
                 "0o444 False\n")


def test_execute_shares_nothing_else(start_service):
    s = start_service()
    execute(s, "x = 1\nopen('/tmp/t', 'w').write('1')")
    answer = execute(s,
                     "import os\nprint(os.path.exists('/tmp/t'), 'x' in globals(), [n for n in os.listdir('.') if n[0] "
                     "!= '.'])")
    assert answer["stdout"] == "False False []\n", answer
    assert list(s.workspace.iterdir()) == []  # the program itself is no output


def test_execute_leaves_no_link_for_others(start_service):
    """The host never reads a file of another place."""
    s = start_service()
    code = """\
import os
os.symlink('/etc/passwd', 'link')
os.symlink('..', 'up')
os.mkfifo('fifo')
open('plain', 'w').write('p')"""
    answer = execute(s, code)
    assert answer["process_status"] in ("completed", "error")
    for name in ("link", "up"):
        assert not (s.workspace / name).is_symlink(), name
    assert not (s.workspace / "fifo").exists() and (s.workspace / "plain").read_text() == "p"


def test_execute_follows_no_link_in_the_shared_directory(start_service):
    s = start_service()
    s.workspace.mkdir(exist_ok=True)
    (s.workspace / "secret").symlink_to("/etc/hostname")
    answer = execute(s, "import os\nprint(os.path.exists('secret') and open('secret').read())")
    with open("/etc/hostname") as f:
        assert answer["stdout"].strip() != f.read().strip(), answer


def test_execute_runs_are_in_the_history(start_service):
    s = start_service()
    execute(s, "print('kept')")
    rows = s.get("/v1/runs").json["runs"]
    assert [(r["surface"], r["verdict"], r["language"]) for r in rows] == [("nemo", "ok", "python")]


# ---- mistakes of the original ----


@pytest.mark.parametrize("code, status", [
    ("""\
import sys
print('a', flush=True)
sys.exit()""", "completed"), ("""\
import sys
print('a', flush=True)
sys.exit(3)""", "error"),
    ("""\
import os
print('a', flush=True)
os._exit(0)""", "completed"), ("""\
import os
print('a', flush=True)
os._exit(9)""", "error"),
    ("""\
import ctypes
print('a', flush=True)
ctypes.string_at(0)""", "error"), ("""\
import os
print('a', flush=True)
os.abort()""", "error"),
    ("""\
import os
print('a', flush=True)
os.kill(os.getpid(), 9)""", "error"), ("print('a', flush=True)\nraise KeyboardInterrupt", "error"),
], ids=lambda v: v.splitlines()[-1] if "\n" in v else None)
def test_execute_program_that_ends_in_its_own_way_hangs_nobody(service, code, status):
    start = time.monotonic()
    answer = execute(service, code, timeout=20)
    assert (answer["process_status"], answer["stdout"]) == (status, "a\n") and since(start) < 15 * PATIENCE, answer
    assert status == "completed" or answer["stderr"] or "exit" in code


def test_execute_out_of_memory_is_an_error(service, needs):
    needs("memory")
    answer = execute(service, "print('a', flush=True)\nx = []\nwhile True: x.append(bytearray(1 << 20))", timeout=30)
    assert (answer["process_status"], answer["stdout"]) == ("error", "a\n") and "memory" in answer["stderr"].lower()


@pytest.mark.parametrize("code", ["", "``````", "{'generated_code': ''}"])
def test_execute_of_nothing_completes(service, code):
    is_completed(execute(service, code), "")


def test_execute_memory_is_a_setting(start_service, needs):
    needs("memory")
    code = "print('a', flush=True)\nx = bytearray(200 << 20)\nprint(len(x) >> 20)"
    s = start_service("--set", "execute.memory=64m")
    answer = execute(s, code, timeout=30)
    assert (answer["process_status"], answer["stdout"]) == ("error", "a\n") and "64m" in answer["stderr"], answer
    assert s.run(code)["stdout"] == "a\n200\n"  # other routes have their own
    s = start_service("--set", "execute.memory=100g", "--set", "limits.memory.max=1g")
    is_completed(execute(s, code, timeout=30), "a\n200\n")


def test_execute_large_output_is_no_deadlock(service):
    answer = execute(service, """\
import sys
sys.stdout.write('x' * (5 << 20))
sys.stderr.write('y' * (1 << 20))""", timeout=30)
    assert (answer["process_status"], len(answer["stdout"]), len(answer["stderr"])) == ("completed", 5 << 20, 1 << 20)


@pytest.fixture
def cold_service():
    """No process waits in this service for work, so every process after a run is left over from it."""
    with Service("--set", "pools.max=0") as s:
        yield s


def test_execute_grandchildren_do_not_survive_a_timeout(cold_service, host):
    code = """\
import subprocess, time
subprocess.Popen(['sleep', '1000'], start_new_session=True)
print('a', flush=True)
time.sleep(60)"""
    assert execute(cold_service, code, timeout=1)["process_status"] == "timeout"


def test_execute_keeps_the_output_of_subprocesses(service):
    is_completed(execute(service, "import subprocess\nsubprocess.run(['echo', 'child'])"), "child\n")


def test_execute_many_at_once(service):
    answers = in_threads([lambda i=i: execute(service, f"print({i})", timeout=30) for i in range(8)])
    assert [a["stdout"] for a in answers] == [f"{i}\n" for i in range(8)]


def test_execute_workspace_by_the_setting():
    s = Service()
    place = s.scratch / "elsewhere"
    s.options = ["--set", f"execute.workspace={place}"]
    with s:
        execute(s, "open('here', 'w').write('1')")
        assert (place / "here").read_text() == "1" and not s.workspace.exists()


def test_execute_bodies_as_the_toolkit_sends_them(service):
    """json.dumps with its spaces, charset and all."""
    body = json.dumps({"generated_code": "print('ü')", "timeout": 10.0, "language": "python"}).encode()
    reply = service.request("POST", "/execute", body,
                            headers={"Content-Type": "application/json; charset=utf-8", "Accept": "*/*"})
    assert reply.json == {"process_status": "completed", "stdout": "ü\n", "stderr": ""}


# ---- the directory of each key ----


@pytest.fixture
def two_keys(start_service):
    s = start_service()
    s.keys = {name: s.add_key(name, "run") for name in ("alice", "bob")}
    assert eventually(lambda: all(s.get("/v1/languages", key=k).status == 200 for k in s.keys.values()))
    return s


def test_execute_keeps_the_files_of_keys_apart(two_keys):
    s, alice, bob = two_keys, two_keys.keys["alice"], two_keys.keys["bob"]
    execute(s, "open('json.py', 'w').write('print(\"foreign code\")')", key=alice)
    is_completed(execute(s, "import json, os\nprint(json.dumps(1), os.path.exists('json.py'))", key=bob), "1 False\n")
    execute(s, "open('secret', 'w').write('of bob')", key=bob)
    is_completed(execute(s, "import os\nprint(sorted(n for n in os.listdir('.') if n[0] != '.'))", key=alice),
                 "['json.py']\n")
    is_completed(execute(s, "print(open('secret').read())", key=bob), "of bob\n")
    kept = {p.name.split(".")[0]: p for p in (s.workspace / ".belljar-keys").iterdir()}
    assert set(kept) == {"alice", "bob"} and (kept["bob"] / "secret").read_text() == "of bob"
    for path in (s.workspace, s.workspace / ".belljar-keys", *kept.values()):
        assert path.stat().st_mode & 0o007 == 0, path


def test_execute_that_fills_its_directory_disturbs_nobody(two_keys):
    s, alice, bob = two_keys, two_keys.keys["alice"], two_keys.keys["bob"]
    fill = "for i in range(60): open(f'f{i}', 'wb').write(bytes(1 << 20))"
    answer = execute(s, fill, key=alice, timeout=30)
    assert "the working directory is full" in answer["stderr"], answer
    write = "open('new', 'wb').write(bytes(16 << 20))\nprint('ok')"
    is_completed(execute(s, write, key=bob), "ok\n")
    assert execute(s, write, key=alice)["stdout"] == "ok\n"  # half of the disk is left to the program
    sizes = {p.name.split(".")[0]: sum(f.stat().st_size for f in p.iterdir())
             for p in (s.workspace / ".belljar-keys").iterdir()}
    assert sizes["alice"] <= 32 << 20 and sizes["bob"] == 16 << 20, sizes


def test_execute_directory_is_not_inherited_by_a_new_key_of_the_name(two_keys):
    s = two_keys
    execute(s, "open('old', 'w').write('1')", key=s.keys["alice"])
    assert s.cli("keys", "remove", "alice").status == 0
    new = s.add_key("alice", "run")
    assert eventually(lambda: s.get("/v1/languages", key=new).status == 200)
    is_completed(execute(s, "import os\nprint(os.path.exists('old'))", key=new), "False\n")


def test_execute_program_without_a_key_does_not_reach_the_directories_of_keys(start_service):
    s = start_service()
    code = "import os\nos.makedirs('.belljar-keys/x')\nopen('.belljar-keys/x/f', 'w').write('1')\nprint('made')"
    is_completed(execute(s, code), "made\n")
    assert not (s.workspace / ".belljar-keys").exists()


def test_execute_directory_can_be_shared_by_the_setting(start_service):
    s = start_service("--set", "execute.shared=true")
    alice, bob = s.add_key("alice", "run"), s.add_key("bob", "run")
    assert eventually(lambda: s.get("/v1/languages", key=bob).status == 200)
    execute(s, "open('f', 'w').write('shared')", key=alice)
    is_completed(execute(s, "print(open('f').read())", key=bob), "shared\n")
    assert (s.workspace / "f").read_text() == "shared"


def test_execute_directory_is_in_the_state_by_default():
    s = Service()
    del s.environ["OUTPUT_DATA_PATH"]
    with s:
        execute(s, "open('here', 'w').write('1')")
        assert (s.state / "execute/here").read_text() == "1"
        assert {p.name for p in s.scratch.iterdir()} == {"log", "state"}  # where it was started


def test_execute_directory_that_cannot_be_written_is_refused_with_a_sentence(service):
    if os.geteuid() != 0:
        pytest.skip("only root can give a directory away")
    s = Service()
    s.workspace.mkdir()
    (s.workspace / "file").write_text("x")
    os.chown(s.workspace, 1000, 1000)
    s.start(wait=False)
    try:
        assert s.popen.wait(30 * PATIENCE) != 0
        assert "cannot write" in s.log() and "chown" in s.log() and "execute.workspace" in s.log(), s.log()
    finally:
        if s.popen.poll() is None:
            s.popen.kill()
        subprocess.run(["rm", "-rf", s.scratch], check=True)


# ---- the scripts of the toolkit's documentation ----

NEMO = Path(__file__).resolve().parents[2] / "examples" / "nemo"


def script(name, *args, within=120, **environ):
    run = subprocess.run([NEMO / name, *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, timeout=within * PATIENCE, env={**os.environ, **environ}, text=True)
    return run.returncode, run.stdout


def test_scripts_of_the_toolkit_start_and_check_a_sandbox(public_path):
    """R8.1"""
    environ = {k: v for k, v in os.environ.items() if k != "OUTPUT_DATA_PATH"}
    environ.update(BELLJAR=str(harness.BELLJAR), BELLJAR_STATE=str(public_path / "state"), SANDBOX_PORT="0",
                   BELLJAR_TEST_MARK=harness.MARK)
    log = public_path / "log"
    with open(log, "wb") as out:
        sandbox = subprocess.Popen([NEMO / "start_local_sandbox.sh", "my-sandbox", public_path / "data"], stdout=out,
                                   stderr=out, stdin=subprocess.DEVNULL, env=environ, start_new_session=True)
    harness.started.add(sandbox.pid)
    harness.pooling.add(sandbox.pid)
    try:
        assert eventually(lambda: "service.ready" in log.read_text() or sandbox.poll() is not None, 30)
        found = re.search(r"service\.ready .*listen=\S*127\.0\.0\.1:(\d+)", log.read_text())
        assert found and "my-sandbox" in log.read_text(), log.read_text()
        url = f"http://127.0.0.1:{found.group(1)}/execute"
        status, text = script("test_code_execution_sandbox.sh", "-u", url, "-t", "60")
        assert status == 0 and text.endswith("18 passed, 0 failed\n"), text
        assert (public_path / "data" / "sandbox_test.txt").read_text() == "kept"
        status, text = script("test_code_execution_sandbox.sh", "-m", "-u", url)
        assert status == 0 and text.endswith("5 passed, 0 failed\n"), text
        status, text = script("curl_request.sh", url)
        assert status == 0 and '"process_status":"completed"' in text and "plot" in text, text
    finally:
        sandbox.terminate()
        sandbox.wait(60 * PATIENCE)
        harness.pooling.discard(sandbox.pid)
    status, text = script("test_code_execution_sandbox.sh", "-u", url)
    assert status == 1 and "no sandbox answers" in text, text


@pytest.mark.parametrize("args, status, word", [
    (["-h"], 0, "--malformed"), (["-x"], 64, "'-x'"), (["-t", "soon"], 64, "'soon'"), (["-u"], 64, "URL"),
], ids=str)
def test_scripts_of_the_toolkit_explain_themselves(args, status, word):
    got, text = script("test_code_execution_sandbox.sh", *args)
    assert got == status and word in text, text
