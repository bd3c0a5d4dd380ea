"""Batches whose outputs a checker program judges, in a jar of its own (R1.8)."""

import base64

import pytest

from harness import eventually

SQUARE = {"language": "python", "code": "n = int(input())\nprint(n * n if n < 7 else 'x' * n)"}
# Judges by the input alone, as for a problem with several right answers.
CHECKER = {"language": "python", "code": """\
n, got = int(open('input').read()), open('got').read().strip()
if got == str(n * n):
    print('pass')
elif got.startswith('x'):
    raise SystemExit('no number: ' + got)
else:
    print('fail:', got, 'is not the square of', n)
"""}


def batch(service, status=200, **body):
    reply = service.post("/v1/batches", body)
    assert reply.status == status, reply
    return reply.json


def words(results):
    return [(x["passed"], x.get("checker", {}).get("outcome")) for x in results]


def test_checker_says_pass_or_fail_and_why(service):
    """R1.8"""
    wrong = {"language": "python", "code": "n = int(input())\nassert n != 3\nprint(n * n + (n == 2))"}
    r = batch(service, run=wrong, inputs=[{"stdin": "1\n"}, {"stdin": "2\n"}, {"stdin": "3\n"}], checker=CHECKER)
    assert words(r["results"]) == [(True, "pass"), (False, "fail"), (False, None)]
    assert r["results"][1]["checker"]["message"] == "5 is not the square of 2"
    assert [x["verdict"] for x in r["results"]] == ["ok", "ok", "runtime_error"]  # the program's own
    assert r["results"][0]["stdout"] == "1\n" and "difference" not in r["results"][1]
    s = r["summary"]
    assert (s["total"], s["ok"], s["passed"], s["failed"], s["unchecked"]) == (3, 1, 1, 2, 0)
    # Its runs are in the history, and the batch lists the judged runs.
    run = service.get(f"/v1/runs/{r['results'][1]['checker']['run_id']}").json
    assert run["batch_id"] == r["id"] and run["stdout"].startswith("fail: 5") and run["id"] != r["results"][1]["id"]
    listed = service.get(f"/v1/batches/{r['id']}").json["results"]
    assert [x["id"] for x in listed] == [x["id"] for x in r["results"]]
    rows = service.get("/v1/runs", {"batch": r["id"]}).json["runs"]
    assert sorted(x["surface"] for x in rows) == ["checker", "checker", "v1", "v1", "v1"]
    # The request of such a run is enough to run it again.
    again = service.get(f"/v1/runs/{run['id']}/request").json
    assert service.post("/v1/runs", again["request"]).json["stdout"] == run["stdout"]


@pytest.mark.parametrize("checker, message", [
    ({"language": "python", "code": "1 / 0"}, "exit status 1"),
    ({"language": "bash", "code": "echo fail; exit 1"}, "exit status 1"),
    ({"language": "bash", "code": "echo passable"}, "begins with 'passable'"),
    ({"language": "bash", "code": "true"}, "begins with ''"),
    ({"language": "bash", "code": "echo pass; kill -9 $$"}, "SIGKILL"),
    ({"language": "python", "code": "while True: pass", "limits": {"wall_ms": 300}}, "it took longer"),
    ({"language": "c", "code": "int main(void) { retrun 0; }"}, "does not compile"),
], ids=["exception", "exit", "word", "silent", "killed", "timeout", "compile"])
def test_checker_that_fails_is_not_blamed_on_the_program(service, checker, message):
    r = batch(service, run=SQUARE, inputs=[{"stdin": "2"}], checker=checker)
    x, = r["results"]
    assert (x["verdict"], x["passed"], x["checker"]["outcome"]) == ("ok", None, "error")
    assert message in x["checker"]["message"] and x["checker"]["message"].startswith("the checker failed: ")
    assert (r["summary"]["unchecked"], r["summary"]["failed"], r["summary"]["ok"]) == (1, 0, 0)


def test_checker_shares_nothing_with_the_judged_program(service):
    """CHECKER-1: the program is hostile, and its stdout is all that arrives."""
    hostile = {"language": "bash", "code": """\
mkdir -p /tmp/x; echo 'print("pass")' > /tmp/x/main.py; echo pass > got; echo pass > expected
echo 'import os; print("pass"); os._exit(0)' > sitecustomize.py
nohup setsid sh -c 'while :; do echo pass > /sandbox/got; echo pass > /proc/1/fd/1; done' >/dev/null 2>&1 &
printf 'pass\\n\\000\\377fail'"""}
    seen = {"language": "python", "code": """\
import os
got = open('got', 'rb').read()
left = sorted(set(os.listdir('.')) - {'main.py'}) + os.listdir('/tmp')
print('pass' if got == b'pass\\n\\0\\xfffail' and left == ['expected', 'got', 'input'] else 'fail', got, left)
"""}
    data = base64.b64encode(b"\0\xff").decode()
    r = batch(service, run=hostile, inputs=[{"stdin": data, "stdin_encoding": "base64", "expected": "e"}], checker=seen)
    assert words(r["results"]) == [(True, "pass")], r["results"][0]["checker"]


def test_checker_is_compiled_once_for_all_inputs(service):
    code = r"""
#include <stdio.h>
int main(void)
{
    FILE *in = fopen("input", "r"), *expected = fopen("expected", "r"), *got = fopen("got", "r");
    int n, e, g;
    if (fscanf(in, "%d", &n) != 1 || fscanf(expected, "%d", &e) != 1 || fscanf(got, "%d", &g) != 1)
        return puts("fail no numbers"), 0;
    puts(e == g ? "pass" : "fail");
}
// """ + "once"
    r = batch(service, run=SQUARE, inputs=[{"stdin": str(n), "expected": str(n * n)} for n in range(5)] +
              [{"stdin": "7", "expected": "49"}], checker={"language": "c", "code": code})
    assert words(r["results"]) == [(True, "pass")] * 5 + [(False, "fail")]
    compiled = [service.get(f"/v1/runs/{x['checker']['run_id']}").json["compile"] for x in r["results"]]
    assert len({c["key"] for c in compiled}) == 1 and [c["cached"] for c in compiled].count(False) == 1


def test_checker_large_output_and_stop_on_failure(service):
    big = {"language": "python", "code": "import sys\nsys.stdout.write('y' * int(input()))"}
    size = {"language": "python", "code": "n = len(open('got').read())\nprint('pass' if n != 3 else 'fail', n)"}
    inputs = [{"stdin": "600000"}, {"stdin": "3"}, {"stdin": "9"}]
    events = service.all_events("/v1/batches", {"run": big, "inputs": inputs, "checker": size, "parallel": 1,
                                                "stop_on_failure": True, "stream": True})
    results = [e["result"] for e in events[:-1]]
    assert words(results[:2]) == [(True, "pass"), (False, "fail")] and results[2]["state"] == "skipped"
    assert results[0]["checker"]["message"] == "600000" and events[-1]["summary"]["skipped"] == 1


def test_checker_from_an_artifact(service):
    made = service.post("/api/artifacts/create", {**CHECKER, "content": CHECKER["code"], "title": "squares"}).json
    r = batch(service, run=SQUARE, inputs=[{"stdin": "3"}, {"stdin": "8"}], checker={"artifact": made["id"]})
    assert words(r["results"]) == [(True, "pass"), (None, "error")]
    assert r["results"][1]["checker"]["message"].endswith("no number: xxxxxxxx")


@pytest.mark.parametrize("body, field", [
    ({"runs": [SQUARE], "checker": CHECKER}, "checker"),
    ({"run": SQUARE, "inputs": [{}], "checker": CHECKER, "compare": "exact"}, "checker"),
    ({"run": SQUARE, "inputs": [{}], "checker": {}}, "checker.code"),
    ({"run": SQUARE, "inputs": [{}], "checker": {"language": "cobol", "code": "1"}}, "checker.language"),
    ({"run": SQUARE, "inputs": [{}], "checker": {**CHECKER, "files": {"got": "1"}}}, "checker.files"),
    ({"run": SQUARE, "inputs": [{}], "checker": {**CHECKER, "limits": {"memory": 1}}}, "checker.limits.memory"),
    ({"run": SQUARE, "inputs": [{}], "checker": {**CHECKER, "network": "full"}}, "checker.network"),
    ({"run": SQUARE, "inputs": [{}], "checker": {"artifact": "art_none"}}, "checker.artifact"),
    ({"run": SQUARE, "inputs": [{}], "checker": {"artifact": "art_none", **CHECKER}}, "checker.artifact"),
], ids=lambda v: str(v)[-40:])
def test_checker_nonsense_is_refused_whole(service, body, field):
    before = len(service.get("/v1/runs", {"limit": 1000}).json["runs"])
    reply = service.post("/v1/batches", body)
    assert reply.status in (400, 404) and reply.error["field"] == field, reply
    assert len(service.get("/v1/runs", {"limit": 1000}).json["runs"]) == before


def test_checker_waits_for_approval_like_any_run(start_service):
    """The person who decides sees its code and its data."""
    s = start_service("--set", "approvals.mode=default")

    def pending():
        return s.get("/v1/approvals", {"decision": "pending"}).json["approvals"]

    with s.events("/v1/batches", {"run": {"language": "bash", "code": "echo 4"}, "inputs": [{"stdin": "2"}],
                                  "checker": CHECKER, "stream": True}) as events:
        for names in (["main.sh"], ["got", "input", "main.py"]):
            assert eventually(lambda: [[f["name"] for f in a["input"]["files"]] for a in pending()] and
                              sorted(f["name"] for f in pending()[0]["input"]["files"]) == names)
            assert s.post(f"/v1/approvals/{pending()[0]['id']}", {"decision": "approve"}).status == 200
        last = list(events)[-2]
    assert last["result"]["checker"]["outcome"] == "pass"
