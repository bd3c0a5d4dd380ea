"""The door of Judge0: submissions as its clients know them. One service for the whole file."""

import base64
import http.server
import io
import json
import os
import signal
import threading
import zipfile

import pytest

from harness import eventually
from service import ROOMY, Service, in_threads

DEFAULT = {"token", "time", "memory", "stdout", "stderr", "compile_output", "message", "status"}
BASH, C, PYTHON, MULTI = 46, 50, 71, 89


@pytest.fixture(scope="module")
def judge0():
    with Service(*ROOMY, "--set", "doors.judge0=on", "--set", "network.max=full",
                 "--set", "network.private=127.0.0.1") as s:
        yield s


def b64(text):
    return base64.b64encode(text.encode() if isinstance(text, str) else text).decode()


def post(s, query="wait=true", status=201, language_id=PYTHON, **body):
    reply = s.post(f"/submissions?{query}", {"language_id": language_id, **body})
    assert reply.status == status, reply
    return reply.json


def archive(**files):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as z:
        for name, content in files.items():
            z.writestr(name, content)
    return b64(out.getvalue())


def test_judge0_create_wait_and_result(judge0):
    """R8.5: the documented example."""
    code = ('#include <stdio.h>\n\nint main(void) {\n  char name[10];\n  scanf("%s", name);\n'
            '  printf("hello, %s\\n", name);\n  return 0;\n}')
    r = post(judge0, language_id=C, source_code=code, stdin="world", expected_output="hello, world")
    assert set(r) == DEFAULT and r["status"] == {"id": 3, "description": "Accepted"}, r
    assert r["stdout"] == "hello, world\n" and r["stderr"] is r["compile_output"] is r["message"] is None
    assert isinstance(r["time"], str) and float(r["time"]) >= 0 and r["memory"] > 0
    token = post(judge0, query="", language_id=C, source_code=code, stdin="Judge0")
    assert set(token) == {"token"}
    path = f"/submissions/{token['token']}"
    assert eventually(lambda: judge0.get(path).json["status"]["id"] > 2, 30)
    assert judge0.get(path).json["stdout"] == "hello, Judge0\n"
    short = judge0.get(path, {"fields": "stdout,status_id,language_id,language"}).json
    assert short["status_id"] == 3 and short["language_id"] == C and short["language"]["name"].startswith("C (GCC ")
    whole = judge0.get(path, {"fields": "*", "base64_encoded": "true"}).json
    assert base64.b64decode(whole["source_code"]).decode() == code and whole["source_code"].endswith("\n")
    assert max(map(len, whole["source_code"].split("\n"))) == 60 and whole["stdin"] == b64("Judge0") + "\n"
    assert whole["cpu_time_limit"] == 5 and whole["memory_limit"] == 128000 and whole["number_of_runs"] == 1
    assert whole["exit_code"] == 0 and whole["exit_signal"] is None and whole["finished_at"].endswith("Z")


# status, language, source, other fields
ENDS = [
    (3, PYTHON, "print('a  ')\nprint('b')\n\n", {"expected_output": "a\nb"}),
    (4, PYTHON, "print('a')", {"expected_output": "b"}),
    (4, PYTHON, "print(' a')", {"expected_output": "a"}),
    (5, PYTHON, "while True: pass", {"cpu_time_limit": 0.3}),
    (5, PYTHON, "import time; time.sleep(60)", {"wall_time_limit": 1}),
    (6, C, "int main(", {}),
    (7, C, "int main(void) { volatile int *p = 0; return *p; }", {}),
    (8, BASH, "yes | head -c 3m", {}),
    (9, C, "int main(void) { volatile int a = 0, b = 1; return b / a; }", {}),
    (10, C, "#include <stdlib.h>\nint main(void) { abort(); }", {}),
    (11, PYTHON, "import sys; print('out'); sys.exit(3)", {}),
    (12, C, "#include <signal.h>\nint main(void) { return raise(SIGKILL); }", {}),
    (12, C, "#include <stdlib.h>\n#include <string.h>\n"
            "int main(void) { for (;;) memset(malloc(1 << 20), 1, 1 << 20); }", {"memory_limit": 50000}),
    (14, C, "int main(void) { return 0; }", {"compiler_options": "-c"}),
]


def test_judge0_reaches_every_status_by_a_real_program(judge0):
    """R8.5: 1 and 2 are seen below, 13 when the warden dies."""
    got = in_threads([lambda e=e: post(judge0, language_id=e[1], source_code=e[2], **e[3]) for e in ENDS])
    for (status, _, source, _), r in zip(ENDS, got):
        assert r["status"]["id"] == status, (source, r)
    by = {e[2]: r for e, r in zip(ENDS, got)}
    assert "error" in by["int main("]["compile_output"] and by["int main("]["time"] is None
    assert by[ENDS[10][2]]["message"] == "Exited with error status 3" and by[ENDS[10][2]]["stdout"] == "out\n"
    assert by[ENDS[6][2]]["message"] == "Caught fatal signal 11"
    assert by[ENDS[3][2]]["message"] == "Time limit exceeded"
    assert by[ENDS[13][2]]["message"].endswith("Exec format error")
    statuses = judge0.get("/statuses").json
    assert [s["id"] for s in statuses] == list(range(1, 15)) and statuses[13]["description"] == "Exec Format Error"


def test_judge0_queue_processing_and_internal_error():
    with Service("--set", "doors.judge0=on", "--set", "runs.max=1") as s:
        first, second = (post(s, query="", source_code="import time; time.sleep(60)",
                              wall_time_limit=20)["token"] for _ in range(2))
        seen = eventually(lambda: [judge(s, t) for t in (first, second)] == [2, 1], 20)
        assert seen, [judge(s, t) for t in (first, second)]
        os.kill(s.half("warden").pid, signal.SIGKILL)
        assert eventually(lambda: judge(s, first) == 13, 20)
        r = s.get(f"/submissions/{first}").json
        assert r["status"]["description"] == "Internal Error" and r["message"]
        # The warden comes back; until then the queue is full.
        again = {"language_id": 71, "source_code": "print('kept')"}
        accepted = eventually(lambda: (r := s.post("/submissions", again)).status == 201 and r.json, 30)
        done = accepted["token"]
        s.request("DELETE", f"/v1/runs/{second}")
        assert eventually(lambda: judge(s, done) == 3, 30)
        s.restart()
        assert s.get(f"/submissions/{done}").json["stdout"] == "kept\n" and judge(s, first) == 13


def judge(s, token):
    return s.get(f"/submissions/{token}").json["status"]["id"]


def test_judge0_batch_of_twenty(judge0):
    """R8.5"""
    tokens = judge0.post("/submissions/batch", {"submissions": [
        {"language_id": BASH, "source_code": f"echo {i}", "expected_output": str(i)} for i in range(20)]})
    assert tokens.status == 201 and len(tokens.json) == 20 and all(set(t) == {"token"} for t in tokens.json), tokens
    names = ",".join(t["token"] for t in tokens.json)
    def all_over():
        found = judge0.get("/submissions/batch", {"tokens": names, "fields": "status_id,stdout"}).json["submissions"]
        return found if all(f["status_id"] > 2 for f in found) else None
    found = eventually(all_over, 30)
    assert [(f["status_id"], f["stdout"]) for f in found] == [(3, f"{i}\n") for i in range(20)]
    mixed = judge0.post("/submissions/batch", {"submissions": [{"language_id": 4711, "source_code": "x"},
                                                               {"language_id": BASH, "source_code": "echo"}]})
    assert mixed.status == 201 and mixed.json[0] == {"language_id": ["language with id 4711 doesn't exist"]}
    unknown = judge0.get("/submissions/batch", {"tokens": f"nothing,{mixed.json[1]['token']}"}).json["submissions"]
    assert unknown[0] is None and unknown[1]["token"] == mixed.json[1]["token"]
    for submissions, words in (([{}] * 21, "less than or equal to 20"), ([], "at least one")):
        reply = judge0.post("/submissions/batch", {"submissions": submissions})
        assert reply.status == 400 and words in reply.json["error"]
    assert judge0.get("/submissions/batch").status == 400
    assert judge0.post("/submissions/batch", {"submissions": [{}]}).status == 422


def test_judge0_base64_both_ways(judge0):
    code = "import sys\nsys.stdout.buffer.write(bytes([255]) * 100)\nsys.stderr.write(input())"
    r = post(judge0, query="wait=true&base64_encoded=true", source_code=b64(code), stdin="aGVs\nbG8=\n")
    assert base64.b64decode(r["stdout"]) == b"\xff" * 100
    assert [len(x) for x in r["stdout"].split("\n")] == [60, 60, 16, 0]
    assert r["stderr"] == "aGVsbG8=\n"
    error = "some attributes for this submission cannot be converted to UTF-8, use base64_encoded=true query parameter"
    reply = judge0.get(f"/submissions/{r['token']}")
    assert (reply.status, reply.json) == (400, {"error": error})
    r = post(judge0, source_code="import sys\nsys.stdout.buffer.write(b'\\xff')")
    assert r["error"] == error and r["token"]


def test_judge0_options(judge0):
    r = post(judge0, source_code="import sys\nprint(sys.argv[1:], flush=True)\nprint('e', file=sys.stderr)",
             command_line_arguments="a 'b c' \"d\\\"\" e\\ f", redirect_stderr_to_stdout=True)
    assert r["stdout"] == "['a', 'b c', 'd\"', 'e f']\ne\n" and r["stderr"] is None
    r = post(judge0, query="wait=true&fields=*", source_code="print(1)", number_of_runs=3)
    assert r["status"]["id"] == 3 and r["number_of_runs"] == 3
    rows = judge0.get("/v1/runs", {"batch": r["token"]}).json["runs"]
    assert len(rows) == 2
    again = judge0.get(f"/submissions/{r['token']}").json
    assert again["status"]["id"] == 3 and again["token"] == r["token"] and again["time"] == r["time"]
    r = post(judge0, language_id=C, source_code="int main(void) { return X; }", compiler_options="-DX=7",
             query="wait=true&fields=exit_code,status_id")
    assert r == {"exit_code": 7, "status_id": 11}


def test_judge0_additional_files(judge0):
    files = archive(**{"data/a.txt": "from the archive", "run": "bash helper.sh $1",
                       "helper.sh": "cat data/a.txt; echo $1"})
    r = post(judge0, language_id=MULTI, additional_files=files, command_line_arguments="x")
    assert r["stdout"] == "from the archivex\n" and r["status"]["id"] == 3, r
    r = post(judge0, additional_files=files, source_code="print(open('data/a.txt').read())")
    assert r["stdout"] == "from the archive\n"
    r = post(judge0, language_id=MULTI, additional_files=archive(run="./p", compile="gcc -o p p.c && echo made", **{
        "p.c": "#include <stdio.h>\nint main(void) { puts(\"compiled\"); return 0; }"}))
    assert (r["stdout"], r["compile_output"], r["status"]["id"]) == ("compiled\n", "made\n", 3), r
    r = post(judge0, language_id=MULTI, additional_files=archive(run="echo never", compile="echo broken; exit 3"))
    assert (r["status"]["id"], r["compile_output"], r["stdout"]) == (6, "broken\n", None), r
    for bad, words in ((archive(**{"../x": "1"}), "../x"), (archive(**{"/etc/x": "1"}), "/etc/x"),
                       (b64("no zip"), "not a zip"), ("?", "not base64"),
                       (archive(big=b"0" * (17 << 20)), "bytes when unpacked")):
        r = post(judge0, status=422, additional_files=bad, source_code="1")
        assert words in r["additional_files"][0], r
    assert "additional_files" in post(judge0, status=422, language_id=MULTI)


@pytest.mark.parametrize("body, field, message", [
    ({"source_code": ""}, "source_code", "can't be blank"),
    ({"language_id": None, "source_code": "1"}, "language_id", "can't be blank"),
    ({"language_id": 4711, "source_code": "1"}, "language_id", "language with id 4711 doesn't exist"),
    ({"source_code": "1", "cpu_time_limit": 16}, "cpu_time_limit", "must be less than or equal to 15.0"),
    ({"source_code": "1", "wall_time_limit": 21}, "wall_time_limit", "must be less than or equal to 20.0"),
    ({"source_code": "1", "memory_limit": 512001}, "memory_limit", "must be less than or equal to 512000"),
    ({"source_code": "1", "memory_limit": 1}, "memory_limit", "must be greater than or equal to 2048"),
    ({"source_code": "1", "stack_limit": 128001}, "stack_limit", "must be less than or equal to 128000"),
    ({"source_code": "1", "max_processes_and_or_threads": 121}, "max_processes_and_or_threads",
     "must be less than or equal to 120"),
    ({"source_code": "1", "max_file_size": 4097}, "max_file_size", "must be less than or equal to 4096"),
    ({"source_code": "1", "number_of_runs": 0}, "number_of_runs", "must be greater than 0"),
    ({"source_code": "1", "number_of_runs": 21}, "number_of_runs", "must be less than or equal to 20"),
    ({"source_code": "1", "cpu_extra_time": "soon"}, "cpu_extra_time", "is not a number"),
    ({"source_code": "1", "callback_url": "ftp://example.org"}, "callback_url", "is not the URL"),
    ({"source_code": "1", "callback_url": "http://user@example.org/"}, "callback_url", "is not the URL"),
    ({"source_code": 5}, "source_code", "must be a string"),
])
def test_judge0_refuses_a_field_with_422(judge0, body, field, message):
    reply = judge0.post("/submissions?wait=true", {"language_id": PYTHON, **body})
    assert reply.status == 422 and message in reply.json[field][0], reply


def test_judge0_answers_bad_requests_in_its_own_form(judge0):
    reply = judge0.post("/submissions?base64_encoded=true", {"language_id": PYTHON, "source_code": "???"})
    assert reply.status == 422 and "base64" in reply.json["source_code"][0]
    for method, path, body, status in (("POST", "/submissions", b"{", 400), ("PUT", "/submissions", b"{}", 405),
                                       ("GET", "/submissions/nothing", None, 404),
                                       ("GET", "/languages/4711", None, 404),
                                       ("GET", "/submissions/x?fields=stdout,nothing", None, 400),
                                       ("DELETE", "/submissions/x", None, 400)):
        reply = judge0.request(method, path, body)
        assert reply.status == status and set(reply.json) == {"error"}, reply
    assert judge0.get("/submissions/x", {"fields": "a"}).json == {"error": "invalid fields: [a]"}
    run = judge0.run(language="bash", code="echo")["id"]
    assert judge0.get(f"/submissions/{run}").status == 404  # a run, but not a submission


def test_judge0_languages_and_information(judge0):
    ids = {l["id"]: l["name"] for l in judge0.get("/languages").json}
    assert ids[PYTHON].startswith("Python (3.") and ids[MULTI] == "Multi-file program" and 92 not in ids
    everything = {l["id"]: l for l in judge0.get("/languages/all").json}
    assert {46, 50, 54, 60, 62, 63, 71, 72, 73, 74, 82, 85, 64, 68, 80, 89, 92} <= everything.keys()
    for gone in (i for i, l in everything.items() if l["is_archived"]):
        r = post(judge0, status=422, language_id=gone, source_code="1")
        assert r["language_id"] == [f"language with id {gone} is archived and cannot be used anymore"]
    one = judge0.get("/languages/50").json
    assert one["source_file"] == "main.c" and "gcc" in one["compile_cmd"] and one["is_archived"] is False
    for number in ("1", "2", "3"):
        assert post(judge0, language_id=92, source_code=f"print({number})")["stdout"] == number + "\n"
    assert judge0.get("/config_info").json["max_wall_time_limit"] == 20
    for path in ("/about", "/system_info", "/workers", "/statistics"):
        assert judge0.get(path).status == 200
    page = judge0.get("/submissions", {"per_page": "2", "fields": "token"}).json
    assert len(page["submissions"]) == 2 and page["meta"]["total_count"] >= 2 and page["meta"]["next_page"] == 2


def test_judge0_sends_a_callback_from_a_jar(judge0):
    """JUDGE0-1: the network rules hold for it."""
    got = []

    class Listener(http.server.BaseHTTPRequestHandler):
        def do_PUT(self):
            got.append((self.path, json.loads(self.rfile.read(int(self.headers["Content-Length"])))))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_):
            pass

    server = http.server.HTTPServer(("127.0.0.1", 0), Listener)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    r = post(judge0, query="", source_code="print('called back')",
             callback_url=f"http://127.0.0.1:{server.server_port}/done?x=1")
    assert eventually(lambda: got, 30), [x for x in judge0.get("/v1/runs").json["runs"]][:3]
    server.shutdown()
    path, body = got[0]
    assert path == "/done?x=1" and body["token"] == r["token"] and base64.b64decode(body["stdout"]) == b"called back\n"
    assert body["status"]["id"] == 3
    assert any(x["surface"] == "judge0-callback" for x in judge0.get("/v1/runs").json["runs"])


def test_judge0_keys_and_closed_networks():
    with Service("--set", "doors.judge0=on") as s:
        r = post(s, status=422, source_code="1", callback_url="http://example.org/")
        assert "network" in r["callback_url"][0]
        assert "enable_network" in post(s, status=422, source_code="1", enable_network=True)
        run = s.add_key("judge", "run")
        admin = s.add_key("boss", "admin")
        reply = s.get("/languages")
        assert reply.status == 401 and set(reply.json) == {"error"}
        assert s.get("/languages", headers={"X-Auth-Token": run}).status == 200
        assert s.get("/submissions", headers={"X-Auth-Token": run}).status == 403
        assert s.get("/submissions", headers={"X-Auth-Token": run, "X-Auth-User": admin}).status == 200


def test_judge0_is_off_by_default(service):
    reply = service.post("/submissions", {})
    assert reply.status == 404 and "doors.judge0 = on" in reply.json["error"]
