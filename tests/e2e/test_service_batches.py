"""Many runs in one request, one program on many inputs, variants side by side (R1.8, R1.9, R1.10)."""

import json
import socket
import time

import pytest

from harness import PATIENCE, eventually
from service import in_threads, since, sleeper


def py(code, **fields):
    return {"language": "python", "code": code, **fields}


def batch(service, status=200, **body):
    reply = service.post("/v1/batches", body)
    assert reply.status == status, reply
    return reply.json


def test_batch_results_are_in_order(service):
    """R1.9"""
    r = batch(service, runs=[py(f"import time\ntime.sleep({(5 - i) / 10})\nprint({i})") for i in range(5)], parallel=5)
    assert [(x["index"], x["stdout"], x["verdict"]) for x in r["results"]] == [(i, f"{i}\n", "ok") for i in range(5)]
    assert set(r) == {"id", "results", "summary"}
    assert set(r["summary"]) == {"total", "ok", "failed", "passed", "unchecked", "cancelled", "skipped", "wall_ms"}
    assert (r["summary"]["total"], r["summary"]["ok"], r["summary"]["failed"]) == (5, 5, 0)
    assert all(x["batch_id"] == r["id"] for x in r["results"])


def test_batch_runs_in_parallel_as_far_as_asked(service):
    runs = [py("import time\ntime.sleep(1)") for _ in range(4)]
    start = time.monotonic()
    batch(service, runs=runs, parallel=4)
    assert since(start) < 3.5 * PATIENCE
    start = time.monotonic()
    batch(service, runs=runs[:2], parallel=1)
    assert since(start) >= 2


def test_batch_takes_different_programs(service):
    r = batch(service, runs=[py("print(1)"), {"language": "bash", "code": "echo 2"},
                             {"files": {"a.js": "console.log(3)"}}, py("1 / 0"),
                             py("import time\ntime.sleep(60)", limits={"wall_ms": 300})])
    assert [x["verdict"] for x in r["results"]] == ["ok", "ok", "ok", "runtime_error", "timeout"]
    assert [x["stdout"] for x in r["results"]] == ["1\n", "2\n", "3\n", "", ""]
    assert (r["summary"]["ok"], r["summary"]["failed"]) == (3, 2)


def test_batch_of_one_program_on_many_inputs(service):
    """R1.8"""
    inputs = [{"name": "a", "stdin": "1 2\n", "expected": "3\n"}, {"name": "b", "stdin": "5 5\n", "expected": "11"},
              {"stdin": "2 2\n", "expected": "4  \n\n"}, {"stdin": "x", "expected": "0"},
              {"stdin": "7 7", "args": ["z"]}]
    r = batch(service, run=py("a, b = map(int, input().split())\nprint(a + b)"), inputs=inputs)
    assert [x["passed"] for x in r["results"]] == [True, False, True, False, None]
    assert [x.get("name") for x in r["results"]][:2] == ["a", "b"] and r["results"][3]["verdict"] == "runtime_error"
    assert r["results"][1]["difference"] == {"line": 1, "expected": "11", "got": "10"}
    assert (r["summary"]["passed"], r["summary"]["total"]) == (2, 5)


@pytest.mark.parametrize("compare, expected, passes", [
    ("exact", "1 2\n3\n", True), ("exact", "1 2\n3", False), ("trim", "1 2  \n3\n\n", True), ("trim", "1  2\n3", False),
    ("tokens", " 1\n2   3", True), ("tokens", "1 23", False),
])
def test_batch_compares_as_asked(service, compare, expected, passes):
    r = batch(service, run=py("print('1 2')\nprint(3)"), inputs=[{"expected": expected}], compare=compare)
    assert r["results"][0]["passed"] is passes


def test_batch_stops_on_the_first_failure(service):
    """R1.8"""
    runs = [py("print(1)"), py("1 / 0"), py("print(3)"), py("print(4)")]
    r = batch(service, runs=runs, parallel=1, stop_on_failure=True)
    assert [x.get("verdict", x["state"]) for x in r["results"]] == ["ok", "runtime_error", "skipped", "skipped"]
    assert (r["summary"]["ok"], r["summary"]["failed"], r["summary"]["skipped"]) == (1, 1, 2)
    start = time.monotonic()
    r = batch(service, runs=[py(sleeper(60), limits={"wall_ms": "2m"}), py("""\
import time
time.sleep(0.3)
1 / 0"""), py("print(3)")], parallel=2, stop_on_failure=True)
    assert [x.get("verdict", x["state"]) for x in r["results"]] == ["cancelled", "runtime_error",
                                                                    "skipped"] and since(start) < 30
    assert r["summary"]["cancelled"] == 1


@pytest.mark.parametrize("sse", [False, True], ids=["ndjson", "sse"])
def test_batch_streams_results_as_they_finish(service, sse):
    """R1.9"""
    slow = py("import time\nprint('slow', flush=True)\ntime.sleep(100)", limits={"wall_ms": "2m"})
    with service.events("/v1/batches", {"runs": [slow, py("print('fast')")], "parallel": 2, "stream": True},
                        sse=sse) as events:
        first = next(e for e in events if e["event"] == "result")
        assert (first["index"], first["result"]["stdout"]) == (1, "fast\n")
        other, = (r["id"] for r in service.get("/v1/runs", {"batch": first["result"]["batch_id"]}).json["runs"]
                  if r["id"] != first["result"]["id"])
        assert eventually(lambda: service.get(f"/v1/runs/{other}/stdout").body == b"slow\n")
        assert service.delete(f"/v1/runs/{other}").status == 202  # it would go on for long
        rest = list(events)
    assert [e["event"] for e in rest] == ["result", "done"] and rest[0]["result"]["stdout"] == "slow\n"
    assert rest[0]["result"]["verdict"] == "cancelled" and rest[-1]["summary"]["ok"] == 1 and "results" not in rest[-1]
    assert [first["seq"]] + [e["seq"] for e in rest] == sorted({first["seq"], *[e["seq"] for e in rest]})


def test_batch_is_found_again(service):
    made = batch(service, runs=[py("print(1)"), py("1 / 0")])
    reply = service.get(f"/v1/batches/{made['id']}")
    assert reply.status == 200 and reply.json["finished"] is True
    assert [(x["id"], x["verdict"])
            for x in reply.json["results"]] == [(x["id"], x["verdict"]) for x in made["results"]]
    assert {r["id"]
            for r in service.get("/v1/runs", {"batch": made["id"]}).json["runs"]} == {x["id"] for x in made["results"]}
    assert service.get("/v1/batches/bat_none").status == 404 and service.get("/v1/batches/" + "x" * 200).status == 404


def test_batch_larger_than_the_queue_waits_for_itself(start_service):
    s = start_service("--set", "runs.max=2", "--set", "runs.queue=1")
    r = batch(s, runs=[py(f"print({i})") for i in range(30)])
    assert [x["stdout"] for x in r["results"]] == [f"{i}\n" for i in range(30)]


def test_batch_of_hundred(service):
    r = batch(service, runs=[py(f"print({i})") for i in range(100)])
    assert [x["stdout"] for x in r["results"]] == [f"{i}\n" for i in range(100)] and r["summary"]["ok"] == 100


@pytest.mark.parametrize("orderly", [True, False])
def test_batch_cancelled_with_its_client(service, orderly):
    body = {"runs": [py(sleeper(100), limits={"wall_ms": "2m"}) for _ in range(4)], "parallel": 2,
            "cancel_on_disconnect": True}
    text = json.dumps(body).encode()
    with service.connect() as s:
        head = b"""\
POST /v1/batches HTTP/1.1\r
Host: localhost\r
Content-Type: application/json\r
Content-Length: %d\r
\r
"""
        s.sendall(head % len(text) + text)
        assert eventually(lambda: service.get("/v1/stats").json["now"]["running"] == 2)
        if not orderly:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    assert eventually(lambda: service.get("/v1/stats").json["now"] == {"running": 0, "queued": 0, "waiting": 0})


@pytest.mark.parametrize("body, field", [
    ({}, None), ({"runs": []}, "runs"), ({"runs": [py("1")], "run": py("1")}, None), ({"run": py("1")}, None),
    ({"inputs": [{}]}, None),
    ({"run": py("1"), "inputs": []}, "inputs"), ({"runs": [py("1"), {}]}, "runs[1].code"),
    ({"runs": [py("1"), {"language": "cobol", "code": "1"}]}, "runs[1].language"),
    ({"runs": [py("1", limits={"memory": 0})]}, "runs[0].limits.memory"),
    ({"runs": [py("1", wait=False)]}, "runs[0].wait"),
    ({"runs": [py("1", stdin_open=True)]}, "runs[0].stdin_open"), ({"runs": [py("1")], "parallel": 0}, "parallel"),
    ({"runs": [py("1")], "parallel": 100000}, "parallel"), ({"runs": [py("1")], "parallel": "x"}, "parallel"),
    ({"runs": "x"}, "runs"),
    ({"runs": [1]}, "runs[0]"), ({"runs": [py("1")], "colour": 1}, "colour"), ({"runs": [py("1")] * 1001}, "runs"),
    ({"run": py("1"), "inputs": [{"stdin": 5}]}, "inputs[0].stdin"),
    ({"run": py("1"), "inputs": [{}], "compare": "fuzzy"}, "compare"),
    ({"run": py("1"), "inputs": [{"args": ["x" * 200000]}]}, "inputs[0].args"),
], ids=lambda v: str(v)[:48])
def test_batch_nonsense_is_refused_whole(service, body, field):
    """Nothing starts before everything is found to be in order."""
    before = len(service.get("/v1/runs", {"limit": 1000}).json["runs"])
    reply = service.post("/v1/batches", body)
    assert reply.status in (400, 413) and (field is None or reply.error["field"] == field), reply
    assert len(service.get("/v1/runs", {"limit": 1000}).json["runs"]) == before


def test_batches_at_once(service):
    results = in_threads([lambda i=i: batch(service, runs=[py(f"print({i})")] * 3) for i in range(6)])
    assert [{x["stdout"] for x in r["results"]} for r in results] == [{f"{i}\n"} for i in range(6)]


# ---- comparisons ----

SUMS = [{"name": "loop", **py("n = int(input())\nprint(sum(range(n + 1)))")},
        {"name": "formula", "language": "bash", "code": "read n; echo $((n * (n + 1) / 2))"},
        {"name": "wrong", **py("n = int(input())\nprint(n * n)")}]


def compare(service, status=200, **body):
    reply = service.post("/v1/comparisons", body)
    assert reply.status == status, reply
    return reply.json


def test_comparison_puts_outputs_side_by_side(service):
    """R1.10"""
    r = compare(service, variants=SUMS, inputs=[{"name": "ten", "stdin": "10"}, {"stdin": "1"}])
    assert set(r) == {"id", "inputs", "variants", "agreement", "fastest", "wall_ms"} and r["inputs"][0] == "ten"
    assert [v["name"] for v in r["variants"]] == ["loop", "formula", "wrong"]
    assert [[run["stdout"] for run in v["runs"]] for v in r["variants"]] == [["55\n", "1\n"]] * 2 + [["100\n", "1\n"]]
    assert r["agreement"][0]["same_output"] is False and r["agreement"][0]["groups"] == [["loop", "formula"], ["wrong"]]
    assert r["agreement"][1]["same_output"] is True and r["agreement"][1]["groups"] == [["loop", "formula", "wrong"]]
    assert all(f["variant"] in ("loop", "formula", "wrong") and f["wall_ms"] > 0 for f in r["fastest"])
    assert all(v["total"]["wall_ms"] >= max(run["usage"]["wall_ms"] for run in v["runs"]) for v in r["variants"])
    run = r["variants"][0]["runs"][0]
    assert service.get(f"/v1/runs/{run['run_id']}").json["stdout"] == "55\n"


def test_comparison_without_inputs_runs_once(service):
    r = compare(service, variants=[py("print(1)"), py("print('1')")])
    assert [len(v["runs"]) for v in r["variants"]] == [1, 1] and r["agreement"][0]["same_output"] is True


def test_comparison_failures_do_not_agree_with_successes(service):
    r = compare(service, variants=[{"name": "a", **py("print(1)")}, {"name": "b", **py("print(1)\n1 / 0")}])
    assert r["agreement"][0]["groups"] == [["a"], ["b"]] and r["fastest"][0]["variant"] == "a"


def test_comparison_streams(service):
    events = service.all_events("/v1/comparisons", {"variants": SUMS, "inputs": [{"stdin": "3"}], "stream": True})
    assert [e["event"] for e in events] == ["result"] * 3 + ["done"]
    assert {e["variant"] for e in events[:3]} == {"loop", "formula", "wrong"} and events[-1]["agreement"]


@pytest.mark.parametrize("body, field", [
    ({}, "variants"), ({"variants": []}, None), ({"variants": [py("1")], "inputs": []}, None),
    ({"variants": [{"name": "a", **py("1")}, {"name": "a", **py("2")}]}, "variants[1].name"),
    ({"variants": [py("1"), {"language": "cobol", "code": "1"}]}, "variants[1].language"),
    ({"variants": [py("1", stdin="x")]}, "variants[0].stdin"),
    ({"variants": [py("1")] * 40, "inputs": [{}] * 40}, None), ({"variants": "x"}, "variants"),
], ids=lambda v: str(v)[:48])
def test_comparison_nonsense_is_refused(service, body, field):
    reply = service.post("/v1/comparisons", body)
    assert reply.status == 400 and (field is None or reply.error["field"] == field), reply
