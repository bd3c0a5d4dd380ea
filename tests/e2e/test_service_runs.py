"""POST /v1/runs: the request and its result (R1.1, R1.2, R1.3, R1.7, R1.13 over HTTP)."""

import base64
import http.client
import json
import os
import re
from pathlib import Path

import pytest

from harness import eventually
from service import Service, in_threads

TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
RESULT_FIELDS = set(
    "id language version verdict success exit_code signal stdout stderr stdout_truncated stderr_truncated usage limits "
    "limits_hit isolation files start started_at state stdout_bytes stderr_bytes timings compile diagnosis tables "
    "profile displays thread_id artifact_id "
    "batch_id metadata network".split()
)


@pytest.fixture(scope="module")
def default_limits(service):
    """The limits of a run that asks for none, as the description of the API has them."""
    limits = service.get("/openapi.json").json["components"]["schemas"]["Limits"]["properties"]
    return {name: field["default"] for name, field in limits.items()}


def b64(data):
    return base64.b64encode(data).decode()


def test_service_result_has_every_field_with_its_value(service, default_limits):
    """R1.3"""
    r = service.run("import sys\nprint('out')\nprint('err', file=sys.stderr)")
    assert set(r) == RESULT_FIELDS, set(r) ^ RESULT_FIELDS
    assert (r["language"], r["verdict"], r["success"], r["exit_code"], r["signal"]) == ("python", "ok", True, 0, None)
    assert re.fullmatch(r"3\.\d+\.\d+.*", r["version"]) and re.fullmatch(r"[A-Za-z0-9_-]{8,31}", r["id"])
    assert (r["stdout"], r["stderr"], r["stdout_bytes"], r["stderr_bytes"]) == ("out\n", "err\n", 4, 4)
    assert (r["stdout_truncated"], r["stderr_truncated"], r["state"]) == (False, False, "finished")
    assert (r["limits"], r["limits_hit"], r["files"]) == (default_limits, [], [])
    assert (r["diagnosis"], r["thread_id"], r["artifact_id"], r["batch_id"]) == (None, None, None, None)
    assert set(r["usage"]) == {"wall_ms", "cpu_ms", "memory_peak_bytes", "pids_peak"} and r["usage"]["wall_ms"] > 0
    assert set(r["isolation"]) == {"level", "layers", "unenforced"} and r["isolation"]["layers"]


def test_service_timings_are_in_order(service):
    """R1.3"""
    t = service.run("pass")["timings"]
    assert set(t) == {"queued_at", "started_at", "finished_at", "queued_ms"}
    assert all(TIME.fullmatch(t[k]) for k in ("queued_at", "started_at", "finished_at"))
    assert t["queued_at"] <= t["started_at"] <= t["finished_at"] and 0 <= t["queued_ms"] < 10000


def test_service_isolation_is_that_of_the_command_line(service, here):
    iso = service.run("pass")["isolation"]
    assert (iso["level"], set(iso["layers"]), set(iso["unenforced"])) == (here.level, here.layers, here.unenforced)


@pytest.mark.parametrize("names, code", [
    (("python", "py"), "print(6 * 7)"),
    (("javascript", "js", "node"), "console.log(6 * 7)"),
    (("bash", "sh", "shell"), "echo $((6 * 7))"),
], ids=["python", "javascript", "bash"])
def test_service_runs_languages_by_every_name(service, names, code):
    """R2"""
    for name in names:
        r = service.run(code, language=name)
        assert (r["verdict"], r["stdout"], r["stderr"]) == ("ok", "42\n", ""), (name, r)


def test_service_result_is_found_again(service):
    made = service.run("print('again')", metadata={"n": 1}, thread_id="t1")
    assert service.get(f"/v1/runs/{made['id']}").json == made


def test_service_run_is_awaited_by_its_id(service):
    """`wait` answers once, with the whole result: for a run that goes on, and for one that is over."""
    made = service.post("/v1/runs", {"language": "python", "code": "print(input())", "stdin_open": True, "wait": False})
    path = f"/v1/runs/{made.json['id']}"
    waits = http.client.HTTPConnection("127.0.0.1", service.port, timeout=60)
    left = http.client.HTTPConnection("127.0.0.1", service.port, timeout=60)
    for connection in (waits, left):
        connection.request("GET", path + "?wait=true")
    assert service.get(path).json["state"] != "finished" and service.get(path + "?wait=false").status == 200
    left.close()  # the run goes on without this client
    service.post(path + "/stdin", {"data": "late\n", "eof": True})
    result = json.loads(waits.getresponse().read())
    waits.close()
    assert (result["state"], result["verdict"], result["stdout"]) == ("finished", "ok", "late\n"), result
    assert service.get(path + "?wait=1").json == result
    refused = service.get(path + "?wait=soon")
    assert refused.status == 400 and "wait" in refused.error["message"], refused


def test_service_metadata_and_thread_come_back(service):
    metadata = {"a": [1, 2.5, None, True, {"ü": "\u0001"}], "big": 2**53}
    r = service.run("pass", metadata=metadata, thread_id="thread-7")
    assert (r["metadata"], r["thread_id"]) == (metadata, "thread-7")
    assert service.run("pass")["metadata"] is None


def test_service_files_arrive_and_the_entry_runs(service):
    """R1.1"""
    files = {"main.py": "import helper, os\nprint(helper.X, open('data/in.txt').read(), os.getcwd())",
             "helper.py": "X = 'ü'", "data/in.txt": "text"}
    r = service.run(files=files, entry="main.py")
    assert (r["language"], r["stdout"]) == ("python", "ü text /sandbox\n"), r


def test_service_files_beside_code(service):
    r = service.run("print(open('a/b/c').read(), end='')", files={"a/b/c": "deep"})
    assert r["stdout"] == "deep"


def test_service_files_as_a_list_and_base64(service):
    """R1.1: bytes that are no text arrive as they are"""
    data = bytes(range(256))
    files = [{"name": "bytes", "content": b64(data), "encoding": "base64"},
             {"name": "text", "content": "ü\u0000", "encoding": "utf-8"}, {"name": "plain", "content": "p"}]
    code = "import sys\nfor n in ('bytes', 'text', 'plain'): sys.stdout.buffer.write(open(n, 'rb').read())"
    r = service.run(code, files=files)
    assert base64.b64decode(r["stdout_base64"]) == data + "ü\0p".encode()
    as_map = service.run(code, files={"bytes": {"content": b64(data), "encoding": "base64"}, "text": "ü\0",
                                      "plain": {"content": "p"}})
    assert as_map["stdout_base64"] == r["stdout_base64"]


def test_service_single_file_needs_no_entry(service):
    r = service.run(files={"x.js": "console.log('one')"})
    assert (r["language"], r["stdout"]) == ("javascript", "one\n"), r


def test_service_arguments_arrive_unchanged(service):
    args = ["", "a b", "--x", "ü", "'\"\\", "new\nline", "*", "-"]
    r = service.run("import sys, json\nprint(json.dumps(sys.argv[1:]))", args=args)
    assert __import__("json").loads(r["stdout"]) == args


def test_service_environment_is_added(service):
    r = service.run("import os\nprint(os.environ['A'], os.environ['LANG_X'], 'BELLJAR_TEST_MARK' in os.environ)",
                    env={"A": "1 = ü", "LANG_X": ""})
    assert r["stdout"] == "1 = ü  False\n"


@pytest.mark.parametrize("data", [b"", b"plain\n", "ü\n".encode(), bytes(range(256)) * 64, b"\0" * 10],
                         ids=["empty", "plain", "utf8", "bytes", "nul"])
def test_service_stdin_arrives_unchanged(service, data):
    """R1.1"""
    code = "import sys\nsys.stdout.buffer.write(sys.stdin.buffer.read())"
    r = service.run(code, stdin=b64(data), stdin_encoding="base64")
    assert service.get(f"/v1/runs/{r['id']}/stdout").body == data
    if data.isascii():
        assert service.run(code, stdin=data.decode())["stdout"] == data.decode()


def test_service_stdin_is_empty_unless_given(service):
    assert service.run("import sys\nprint(repr(sys.stdin.read()))")["stdout"] == "''\n"


def test_service_megabyte_of_stdin(service):
    r = service.run("import sys\nprint(len(sys.stdin.read()))", stdin="x" * (3 << 20))
    assert r["stdout"] == f"{3 << 20}\n"


def test_service_program_that_does_not_read_its_stdin(service):
    r = service.run("print('done')", stdin="x" * (3 << 20))
    assert (r["verdict"], r["stdout"]) == ("ok", "done\n")


def test_service_outputs_are_fetched_byte_for_byte(service):
    """R1.7"""
    data = bytes(range(256)) * 10
    code = """\
import os
os.mkdir('d')
open('d/x y.bin', 'wb').write(bytes(range(256)) * 10)
os.symlink('/etc/passwd', 'l')"""
    r = service.run(code, outputs=["d/x y.bin", "missing", "l", "d"])
    files = {f["name"]: (f["status"], f["size"]) for f in r["files"]}
    assert files["d/x y.bin"] == ("ok", len(data)) and set(files) == {"d/x y.bin", "missing", "l", "d"}
    assert all(files[n][0] != "ok" and files[n][1] is None for n in ("missing", "l", "d")), files
    assert service.file(r["id"], "d/x y.bin") == data
    assert service.get(f"/v1/runs/{r['id']}/files").json == {"id": r["id"], "files": r["files"]}
    for name in ("missing", "l", "d", "other"):
        refused = service.get(f"/v1/runs/{r['id']}/files/{name}")
        assert (refused.status, refused.error["code"]) == (404, "not_found"), refused
        assert f"'{name}'" in refused.error["message"]


def test_service_outputs_below_tmp_have_absolute_names(service):
    """R1.7: warm as cold, in a batch too, and by each spelling of the route"""
    code = "import os; os.mkdir('/tmp/d'); open('/tmp/d/a b.txt', 'w').write('tmp'); open('x', 'w').write('sandbox')"
    for more in ({}, {"read_only": False}):
        r = service.post("/v1/runs", {"language": "python", "code": code, "outputs": ["/tmp/d/a b.txt", "x", "/tmp/no"],
                                      **more}).json
        assert [(f["name"], f["status"]) for f in r["files"]] == [("/tmp/d/a b.txt", "ok"), ("x", "ok"),
                                                                  ("/tmp/no", "missing")], r
        for path in ("/tmp/d/a%20b.txt", "%2Ftmp%2Fd%2Fa%20b.txt"):
            reply = service.get(f"/v1/runs/{r['id']}/files/{path}")
            assert (reply.status, reply.body) == (200, b"tmp"), (path, reply)
        assert service.get(f"/v1/runs/{r['id']}/files/tmp/d/a%20b.txt").status == 404
    every = service.post("/v1/runs", {"language": "python", "code": code, "outputs": ["."]}).json
    assert not [f for f in every["files"] if "a b" in f["name"]], "'.' is /sandbox"
    batch = service.post("/v1/batches", {"run": {"language": "python", "code": code, "outputs": ["/tmp/d/a b.txt"]},
                                         "inputs": [{}, {}]}).json
    assert [r["files"][0]["status"] for r in batch["results"]] == ["ok", "ok"], batch


@pytest.mark.parametrize("name", ["/tmp", "/tmp/../etc/passwd", "/etc/passwd", "/tmp//x", "/tmp/" + "x" * 5000,
                                  "/tmp/a\0b", "/proc/self/environ", "/sandbox/x"], ids=lambda n: repr(n)[:20])
def test_service_outputs_outside_are_refused(service, name):
    reply = service.post("/v1/runs", {"language": "python", "code": "print(1)", "outputs": [name]})
    assert reply.status == 400 and reply.error["field"].startswith("outputs"), reply


def test_service_output_dot_is_every_file(service):
    """R1.7"""
    code = "import os\nos.makedirs('a/b')\nopen('a/b/c', 'w').write('1')\nopen('top', 'w').write('22')"
    r = service.run(code, outputs=["."], files={"given": "g"})
    files = {f["name"]: f["size"] for f in r["files"] if f["status"] == "ok"}
    assert files["a/b/c"] == 1 and files["top"] == 2 and not any(n.startswith(("/", "..")) for n in files), r["files"]
    assert service.file(r["id"], "a/b/c") == b"1" and service.file(r["id"], "top") == b"22"


def test_service_outputs_with_hostile_names(service):
    """R1.7: no link is followed, no name is misread"""
    code = ("""\
import os
names = [b'new\\nline', b'a b', b'%41', '\\u00fc'.encode(), b'..x', b'\\x1b[31m', b'?q#f']
for n in names: open(n, 'wb').write(n)
os.symlink('/etc/passwd', 'l')
os.mkfifo('p')
os.makedirs('d/' * 50)""")
    r = service.run(code, outputs=["."])
    assert r["verdict"] == "ok", r
    names = {f["name"] for f in r["files"] if f["status"] == "ok"} - {"main.py"}
    assert names == {"new\nline", "a b", "%41", "ü", "..x", "\x1b[31m", "?q#f"}
    assert all(service.file(r["id"], n) == n.encode() for n in names)


def test_service_output_that_is_too_large_is_left_and_said(service, needs):
    needs("disk")
    code = "f = open('big', 'wb')\nfor _ in range(200): f.write(b'x' * (1 << 20))"
    r = service.run(code, outputs=["big"], limits={"disk": "300m", "memory": "600m"})
    assert (r["verdict"], r["files"]) == ("ok", [{"name": "big", "status": "too_large", "size": None}]), r


def test_service_nine_thousand_outputs(service):
    r = service.run("for i in range(9000): open(f'f{i}', 'w').write(str(i))", outputs=["."],
                    limits={"wall_ms": 60000, "cpu_ms": 60000})
    assert len([f for f in r["files"] if f["status"] == "ok"]) == 9001 and service.file(r["id"], "f8999") == b"8999"


def test_service_writable_root_on_request(service, sealed):
    """R4.3"""
    code = "open('/new', 'w').write('1')\nprint('written')"
    assert service.run(code)["verdict"] == "runtime_error"
    assert service.run(code, read_only=True)["verdict"] == "runtime_error"
    assert service.run(code, read_only=False)["stdout"] == "written\n"


@pytest.mark.parametrize("key, text, number", [
    ("wall_ms", "2s", 2000), ("cpu_ms", "1500ms", 1500), ("memory", "64m", 64 << 20), ("pids", "32", 32),
    ("output", "4k", 4096), ("disk", "1m", 1 << 20), ("files", "100", 100), ("open_files", "64", 64),
    ("cpu_percent", "50", 50), ("memory_swap", "0", 0), ("cpu_shares", "512", 512),
])
def test_service_limits_as_text_and_as_numbers(service, default_limits, key, text, number):
    """R3.2"""
    for value in (text, number):
        r = service.run("pass", limits={key: value})
        assert r["limits"] == {**default_limits, key: number} and r["verdict"] == "ok", r


@pytest.mark.parametrize("code, language", [
    ("""\
```python
print(1)
```""", "python"), ("""\
```js
console.log(1)
```""", "javascript"), ("""\
```bash
echo 1
```""", "bash"),
    ("#!/bin/bash\necho 1", "bash"), ("#!/usr/bin/env python3\nprint(1)", "python"), ("import sys\nprint(1)", "python"),
    ("const x = 1;\nconsole.log(x);", "javascript"), ("{'generated_code': 'print(1)'}", "python"),
])
def test_service_infers_the_language(service, code, language):
    """R1.11"""
    reply = service.post("/v1/runs", {"code": code})
    assert reply.status == 200, reply
    assert (reply.json["stdout"], reply.json["language"]) == ("1\n", language), reply.json


def test_service_fence_around_the_code_is_taken_off_also_when_the_language_is_named(service):
    """R1.11; anything else that is asked for explicitly is left as it is."""
    assert service.run("```python\nprint(1)\n```", language="python")["stdout"] == "1\n"
    inside = 'print("""\n```python\nprint(1)\n```\n""")'
    assert "```python" in service.run(inside, language="python")["stdout"]
    assert service.run("{'generated_code': 'print(1)'}", language="python")["stdout"] == ""


def test_service_says_what_of_an_answer_it_ran(service):
    """R1.11"""
    answer = "Install it:\n```bash\nfalse\n```\nThen:\n```python\nprint(1)\n```\nOutput:\n```\n1\n```\n"
    r = service.post("/v1/runs", {"code": answer}).json
    assert r["stdout"] == "1\n" and r["language"] == "python", r
    assert r["taken"] == {"language_from": "fence", "unwrapped": True, "blocks": 3, "blocks_taken": 1}
    assert "taken" not in service.run("print(1)", language="python")


def test_service_that_cannot_tell_the_language_names_what_it_could_be(service):
    """R1.11"""
    reply = service.post("/v1/runs", {"code": "int i = 0;"})
    assert reply.status == 400, reply
    text = str(reply.json)
    assert ", which could be " in text and "java" in text and "give 'language'" in text, reply


def test_service_runs_share_nothing(service):
    """R1.13"""
    service.run("open('x', 'w').write('1'); open('/tmp/x', 'w').write('1')")
    r = service.run("import os\nprint(sorted(set(os.listdir('.')) | set(os.listdir('/tmp'))))")
    assert "'x'" not in r["stdout"]


def test_service_invalid_utf8_is_flagged_and_kept(service):
    """R1.2"""
    r = service.run("import sys\nsys.stdout.buffer.write(b'a\\xff\\xc3')")
    assert base64.b64decode(r["stdout_base64"]) == b"a\xff\xc3" and r["stdout"].startswith("a\ufffd")
    assert service.get(f"/v1/runs/{r['id']}/stdout").body == b"a\xff\xc3"
    assert "stderr_base64" not in r


def test_service_five_megabytes_are_cut_in_json_and_whole_raw(service):
    """R1.5"""
    code = "import sys\nfor i in range(655360): sys.stdout.write('%07d\\n' % i)\nsys.stderr.write('ü' * (1 << 20))"
    expected = b"".join(b"%07d\n" % i for i in range(655360))
    r = service.run(code, limits={"wall_ms": 60000, "cpu_ms": 60000})
    assert (r["verdict"], r["stdout_truncated"], r["stdout_bytes"]) == ("ok", False, len(expected))
    assert r["stdout_cut"] is True and r["stdout"].encode() == expected[: 1 << 20]
    assert r["stderr_cut"] is True and r["stderr"] == "ü" * (1 << 19) and r["stderr_bytes"] == 2 << 20
    raw = service.get(f"/v1/runs/{r['id']}/stdout")
    assert raw.body == expected and raw.headers["Content-Type"] == "application/octet-stream"
    assert service.get(f"/v1/runs/{r['id']}/stderr").body == ("ü" * (1 << 20)).encode()
    again = service.get(f"/v1/runs/{r['id']}").json
    assert again["stdout"] == r["stdout"] and again["stdout_cut"] is True


def test_service_one_mebibyte_is_not_cut(service):
    r = service.run("print('x' * ((1 << 20) - 1))")
    assert "stdout_cut" not in r and len(r["stdout"]) == 1 << 20


def test_service_twenty_at_once_all_succeed(service):
    """R9: concurrent jars"""
    results = in_threads([lambda i=i: service.run(f"print({i})") for i in range(20)])
    assert [r["stdout"] for r in results] == [f"{i}\n" for i in range(20)]
    assert len({r["id"] for r in results}) == 20 and {r["verdict"] for r in results} == {"ok"}


def test_service_leaves_nothing_on_the_host(host, start_service):
    """R4.5"""
    s = start_service()
    s.run("open('x', 'w').write('1' * 100000)")
    assert s.run("import time\ntime.sleep(60)", limits={"wall_ms": 300})["verdict"] == "timeout"
    s.stop()


def test_running_program_tells_its_usage_so_far(service):
    """R1.6: measured from outside for each answer; after its end the result has the usage of the whole run."""
    code = ("import os, sys, time\nkept = b'x' * (40 << 20)\nif os.fork() == 0: time.sleep(60)\n"
            "end = time.process_time() + 0.3\nwhile time.process_time() < end: pass\n"
            "print('ready', flush=True)\nsys.stdin.read(1)\nos.kill(0, 9)")
    run = service.post("/v1/runs", {"language": "python", "code": code, "stdin_open": True, "wait": False,
                                    "limits": {"wall_ms": 60000}}).json
    path = f"/v1/runs/{run['id']}"
    eventually(lambda: service.get(path).json["stdout"] == "ready\n")
    first = service.get(path).json
    usage = first["usage"]
    assert first["state"] == "running" and usage["cpu_ms"] >= 290 and usage["wall_ms"] >= usage["cpu_ms"] - 50, first
    assert usage["memory_bytes"] > 40 << 20 and usage["memory_peak_bytes"] >= usage["memory_bytes"] // 2, first
    assert usage["pids"] == 2 and usage["pids_peak"] >= 2, first
    assert service.get(path).json["usage"]["wall_ms"] > usage["wall_ms"]
    assert service.post(path + "/stdin", {"data": "x"}).status == 202
    over = eventually(lambda: (r := service.get(path).json)["state"] == "finished" and r)
    assert over["usage"]["cpu_ms"] >= usage["cpu_ms"] and "memory_bytes" not in over["usage"], over
    waits = service.post("/v1/runs", {"language": "python", "code": "1", "permission_mode": "manual", "wait": False})
    assert service.get(f"/v1/runs/{waits.json['id']}").json["usage"] is None


def test_swap_needs_the_word_of_the_operator(service):
    reply = service.post("/v1/runs", {"language": "python", "code": "pass", "limits": {"memory_swap": "1m"}})
    assert reply.status == 400 and reply.error["field"] == "limits.memory_swap", reply
    assert "only 0 is accepted" in reply.error["message"] and "limits.memory_swap.max" in reply.error["message"]
    with Service("--set", "limits.memory_swap.max=1g") as s:
        r = s.run("pass", limits={"memory_swap": "1m"})
        assert (r["verdict"], r["limits"]["memory_swap"]) == ("ok", 1 << 20), r


def share_of(word):
    """Of the program with this word as an argument, as the kernel has it; None: it does not run."""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if word not in Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0"):
                continue
            for line in Path(f"/proc/{pid}/cgroup").read_text().splitlines():
                _, controllers, path = line.split(":", 2)
                names = controllers.split(",")
                for file in ([f"{c}{path}/cpu.shares" for c in (controllers, "cpu")] if "cpu" in names else
                             [path.lstrip("/") + "/cpu.weight"]):
                    if os.path.exists(f"/sys/fs/cgroup/{file}"):
                        return int(Path(f"/sys/fs/cgroup/{file}").read_text())
        except OSError:  # it ended
            continue
    return None


def test_a_run_with_fewer_shares_steps_back(service, sealed):
    """The share of the cgroup that the program is in, and of the next program, which may get the same one."""
    found = []
    for n, shares in enumerate((512, 1024)):
        code = f"sleep 301.{os.getpid()}{n}"
        run = service.post("/v1/runs", {"language": "bash", "code": code, "wait": False,
                                        "limits": {"cpu_shares": shares, "wall_ms": 60000}}).json
        try:
            found.append(eventually(lambda: share_of(code.split()[1].encode())))
        finally:
            service.post(f"/v1/runs/{run['id']}/cancel")
    assert found in ([512, 1024], [50, 100]), found
