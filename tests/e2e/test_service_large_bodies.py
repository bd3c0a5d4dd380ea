"""Large requests: no other client waits while one is read."""

import json
import select
import time

import pytest

from service import ROOMY, Service

BYTES = 15 << 20
HEALTH = b"GET /v1/health HTTP/1.1\r\nHost: localhost\r\n\r\n"


@pytest.fixture(scope="module")
def s():
    with Service(*ROOMY, "--set", "http.max_body=32m") as service:
        yield service


def head(path, body):
    return (f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\n\r\n").encode()


def health_came_first(s, path, body):
    """Sends a request and, a moment after its last byte, another one: which of the two is answered first?"""
    with s.connect(60) as large, s.connect(60) as small:
        large.sendall(head(path, body) + body[:-1])
        time.sleep(0.3)  # the service has read it
        large.sendall(body[-1:])
        time.sleep(0.02)
        small.sendall(HEALTH)
        first, _, _ = select.select([large, small], [], [], 60)
        assert first, "no answer within 60 s"
        return small in first and large not in first


# Each body takes the service a few hundred milliseconds, and is refused at its end: the answer marks that end.
ESCAPED = "\\u0041" * (BYTES // 6)
BODIES = {
    "parsing": ("/v1/runs", f'{{"language": "python", "code": "{ESCAPED}", "nonsense": 1}}'),
    "making a run": ("/v1/runs", f'{{"language": "python", "code": "{ESCAPED}", "limits": {{"files": 1}}}}'),
    "execute": ("/execute", f'{{"generated_code": "{ESCAPED}", "timeout": 1, "language": "nonsense"}}'),
    "a batch": ("/v1/batches", '{"runs": [' + ", ".join(
        f'{{"language": "python", "code": "{ESCAPED[:BYTES // 10]}"}}' for _ in range(10)
    ) + ', {"language": "python", "code": "1", "limits": {"files": 1}}]}'),
    "a batch of one program": ("/v1/batches", f'{{"run": {{"language": "python", "code": "{ESCAPED}"}}, '
                               '"inputs": [{"args": [1]}]}'),
    "a comparison": ("/v1/comparisons", f'{{"variants": [{{"language": "python", "code": "{ESCAPED}", '
                     '"limits": {"files": 1}}]}'),
    "artifacts": ("/api/artifacts/detect", f'{{"content": "{ESCAPED}"}}'),
    "a diagnosis": ("/v1/diagnoses", f'{{"stderr": "{ESCAPED}", "nonsense": 1}}'),
}


@pytest.mark.parametrize("name", BODIES)
def test_others_do_not_wait_for_a_large_request(s, name):
    """Where the loop reads the request itself, the small one is never first. On a busy machine it may be late once."""
    path, body = BODIES[name]
    assert any(health_came_first(s, path, body.encode()) for _ in range(5))


def test_a_large_request_is_answered_like_a_small_one(s):
    code = "print(len(open('a').read()))\n"
    result = s.run(code, language="python", files={"a": "x" * (2 << 20)}, metadata={"a": [1, None]})
    assert (result["stdout"], result["metadata"]) == (f"{2 << 20}\n", {"a": [1, None]})
    for field, value in (("language", "nonsense"), ("limits", {"memory": "1"}), ("entry", "b"), ("nonsense", 1)):
        body = {"language": "python", "code": code, "stdin": "x" * (1 << 20), field: value}
        reply, small = s.post("/v1/runs", body), s.post("/v1/runs", {**body, "stdin": "x"})
        assert reply.status == small.status == 400 and reply.error == small.error, field
    broken = s.post("/v1/runs", (json.dumps({"code": "x" * (1 << 20)}) + "}").encode())
    assert broken.status == 400 and "not JSON" in broken.error["message"]


def test_a_client_that_leaves_a_large_request_harms_nobody(s):
    path, body = BODIES["making a run"]
    for _ in range(3):
        with s.connect(60) as large:
            large.sendall(head(path, body.encode()) + body.encode())
    assert s.run("print(1)", language="python")["stdout"] == "1\n"


def test_a_large_batch_is_answered_like_a_small_one(s):
    """Its specs are made in threads, with the same results and the same refusals."""
    filler = "#" + "x" * (1 << 20) + "\n"
    for large in ("", filler):
        run = {"language": "python", "code": large + "import sys\nprint(sys.stdin.read())"}
        inputs = [{"stdin": str(i), "expected": f"{i}\n"} for i in range(6)]
        summary = s.post("/v1/batches", {"run": run, "inputs": inputs}).json["summary"]
        assert (summary["total"], summary["ok"], summary["passed"]) == (6, 6, 6), summary
        runs = [{"language": "python", "code": large + f"print({i})"} for i in range(4)]
        results = s.post("/v1/batches", {"runs": runs, "parallel": 2}).json["results"]
        assert [r["stdout"] for r in results] == ["0\n", "1\n", "2\n", "3\n"]
        stopped = s.post("/v1/batches", {"runs": [{"language": "python", "code": large + "exit(1)"}] + runs,
                                         "parallel": 1, "stop_on_failure": True}).json["summary"]
        assert (stopped["failed"], stopped["skipped"]) == (1, 4), stopped
        compared = s.post("/v1/comparisons", {"variants": runs[:2]}).json
        assert [v["runs"][0]["stdout"] for v in compared["variants"]] == ["0\n", "1\n"]
    for field, value in (("language", "nonsense"), ("limits", {"memory": "1"}), ("wait", False)):
        for path, key in (("/v1/batches", "runs"), ("/v1/comparisons", "variants")):
            bodies = [{key: [{"language": "python", "code": code}, {"language": "python", "code": "1", field: value}]}
                      for code in ("1", filler)]
            small, large = (s.post(path, body) for body in bodies)
            assert small.status == large.status == 400 and small.error == large.error, (path, field)


def test_a_large_artifact_runs_like_a_small_one(s):
    for large in ("", "#" + "x" * (1 << 20) + "\n"):
        made = s.post("/api/artifacts/create", {"content": large + "print(7)", "title": "t", "language": "python"}).json
        answer = s.post(f"/api/artifacts/{made['id']}/execute", {}).json["execution"]
        assert answer["success"] and answer["output"] == "7\n", answer
        refused = s.post(f"/api/artifacts/{made['id']}/execute", {"limits": {"memory": "1"}})
        assert refused.status == 400 and "memory" in refused.json["message"], refused
