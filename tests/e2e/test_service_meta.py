"""The service describes itself: health, languages, statistics, metrics, the OpenAPI document (R8.1, R8.8, R2.7)."""

import json
import re

import pytest

from harness import eventually
from service import sleeper


def test_service_health(service, here):
    reply = service.get("/v1/health")
    h = reply.json
    assert reply.status == 200 and h["status"] == "ok" and re.fullmatch(r"\d+\.\d+\.\d+.*", h["version"])
    assert (h["isolation"]["level"], set(h["isolation"]["layers"])) == (here.level, here.layers) and h["uptime_s"] >= 0


def test_service_languages(service):
    """R2.7"""
    def answered():
        rows = service.get("/v1/languages").json
        return {row["name"]: row for row in rows} if all(row["installed"] is (row["version"] is not None)
                                                         for row in rows) else None
    listed = eventually(answered, 20)  # some take a while to tell
    assert "python" in listed and "bash" in listed
    for row in listed.values():
        assert set(row) == {"name", "aliases", "version", "installed", "install", "extensions", "main_file", "compiled",
                            "warm"}
        assert row["install"]
    assert "py" in listed["python"]["aliases"] and listed["python"]["version"] == service.run("pass")["version"]


def test_service_statistics_count_every_run(start_service):
    """R7.4"""
    s = start_service()
    assert s.get("/v1/stats").json["runs"] == 0
    for code in ("print(1)", "print(2)", "1 / 0"):
        s.run(code)
    s.run("echo 1", language="bash")
    stats = s.get("/v1/stats").json
    assert (stats["runs"], stats["verdicts"]) == (4, {"ok": 3, "runtime_error": 1})
    assert stats["languages"] == {"python": 3, "bash": 1}
    row = next(r for r in stats["rows"] if (r["language"], r["verdict"]) == ("python", "ok"))
    assert row["runs"] == 2 and 0 < row["wall_ms_mean"] <= row["wall_ms_max"] and row["memory_peak_max_bytes"] > 0
    assert stats["now"] == {"running": 0, "queued": 0,
                            "waiting": 0} and stats["since_start"] == {"accepted": 4, "refused": 0}
    assert s.get("/v1/stats", {"since": "1h"}).json["runs"] == 4
    s.restart()
    assert s.get("/v1/stats").json["runs"] == 4


def test_service_statistics_of_now(service):
    run_id = service.run(sleeper(60), wait=False, status=202)["id"]
    assert eventually(lambda: service.get("/v1/stats").json["now"]["running"] == 1)
    service.delete(f"/v1/runs/{run_id}")
    assert eventually(lambda: service.get("/v1/stats").json["now"]["running"] == 0)


@pytest.mark.parametrize("since", ["x", "", "-1h", "9" * 40])
def test_service_statistics_nonsense_since(service, since):
    reply = service.get("/v1/stats", {"since": since})
    assert reply.status == 400 and reply.error["field"] == "since", reply


# ---- Prometheus ----

LABEL = r'[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\.)*"'
SAMPLE = re.compile(rf'([a-zA-Z_:][a-zA-Z0-9_:]*)(\{{{LABEL}(?:,{LABEL})*\}})? (-?[0-9.e+-]+|NaN|[+-]Inf)')


def metrics(service):
    """The samples; the format is checked on the way: each family has HELP and TYPE before its samples, once."""
    reply = service.get("/metrics")
    assert reply.status == 200 and reply.headers["Content-Type"].startswith("text/plain; version=0.0.4"), reply
    text, samples, types, helps = reply.body.decode(), {}, {}, set()
    assert text.endswith("\n")
    for line in text.splitlines():
        if line.startswith("# TYPE "):
            _, _, name, kind = line.split(" ")
            assert name not in types and kind in ("counter", "gauge", "histogram", "summary"), line
            types[name] = kind
        elif line.startswith("# HELP "):
            name = line.split(" ")[2]
            assert name not in helps and len(line.split(" ", 3)[3]) > 3, line
            helps.add(name)
        else:
            match = SAMPLE.fullmatch(line)
            assert match, line
            family = re.sub(r"_(bucket|sum|count)$", "",
                            match.group(1)) if match.group(1) not in types else match.group(1)
            assert family in types and family in helps, line
            assert (match.group(1) + (match.group(2) or "")) not in samples, line
            samples[match.group(1) + (match.group(2) or "")] = float(match.group(3))
    assert all(name.endswith("_total") for name, kind in types.items() if kind == "counter"), types
    return samples


def test_service_metrics_count(service):
    """R8.8"""
    before = metrics(service)
    service.run("print(1)")
    service.run("1 / 0")
    after = metrics(service)
    grown = {k: after[k] - before[k] for k in after}
    assert grown['belljar_runs_total{verdict="ok"}'] == 1 and grown['belljar_runs_total{verdict="runtime_error"}'] == 1
    assert grown["belljar_runs_accepted_total"] == 2 and grown["belljar_http_requests_total"] >= 3
    assert after["belljar_warden_up"] == 1 and after["belljar_runs_running"] == 0
    assert after["belljar_process_resident_memory_bytes"] > 0


def test_service_metrics_show_what_finished_jars_leave_in_the_kernel(service):
    """The machine's own numbers; other programs change them meanwhile."""
    after = metrics(service)
    with open("/proc/sys/fs/dentry-state") as f:
        assert after["belljar_host_negative_dentries"] <= 2 * int(f.read().split()[4]) + 100000
    with open("/proc/cgroups") as f:
        rows = {line.split()[0]: int(line.split()[2]) for line in list(f)[1:]}
    assert after["belljar_host_negative_dentries"] > 0
    assert rows["memory"] / 4 <= after["belljar_host_memory_cgroups"] <= rows["memory"] * 4


# ---- OpenAPI ----

ROUTES = {
    "/v1/runs": {"delete", "get", "post"}, "/v1/runs/{id}": {"get", "delete"}, "/v1/runs/{id}/events": {"get"},
    "/v1/runs/{id}/stdin": {"post"},
    "/v1/runs/{id}/stdout": {"get"}, "/v1/runs/{id}/stderr": {"get"}, "/v1/runs/{id}/files": {"get"},
    "/v1/batches": {"post"},
    "/v1/batches/{id}": {"get"}, "/v1/comparisons": {"post"}, "/v1/languages": {"get"}, "/v1/health": {"get"},
    "/v1/stats": {"get"},
    "/metrics": {"get"}, "/openapi.json": {"get"}, "/v1/keys": {"get", "post"}, "/v1/keys/{name}": {"delete"},
    "/v1/approvals": {"get"},
    "/v1/approvals/{id}": {"get", "post"}, "/v1/rules": {"get", "post"}, "/v1/rules/{id}": {"delete"},
    "/execute": {"post"}, "/": {"get"},
    "/api/artifacts/create": {"post"}, "/api/artifacts/detect": {"post"},
    "/api/artifacts/{id}": {"get", "put", "delete"},
    "/api/artifacts/{id}/fork": {"post"}, "/api/artifacts/{id}/versions": {"get"},
    "/api/artifacts/{id}/download": {"get"},
    "/api/artifacts/{id}/execute": {"post"}, "/api/agent/interrupt": {"post"},
    "/api/agent/pending-approval/{thread_id}": {"get"},
    "/api/agent/state/{thread_id}": {"get"},
}


@pytest.fixture(scope="module")
def document(service):
    reply = service.get("/openapi.json")
    assert reply.status == 200 and reply.headers["Content-Type"].startswith("application/json")
    return reply.json


def test_openapi_lists_every_route(document):
    """R8.1"""
    assert document["openapi"].startswith("3.") and document["info"]["title"] and document["info"]["version"]
    listed = {path: set(item) & {"get", "post", "put", "delete", "patch"} for path, item in document["paths"].items()}
    for path, methods in ROUTES.items():
        assert listed.get(path) == methods, (path, listed.get(path))
    assert any(p.startswith("/v1/runs/{id}/files/{name") for p in listed)


def test_openapi_operations_are_whole(document):
    ids = []
    for path, item in document["paths"].items():
        for method, op in item.items():
            if method not in ("get", "post", "put", "delete"):
                continue
            assert op["summary"] and op["responses"], (method, path)
            ids.append(op.get("operationId"))
            in_path = {p["name"] for p in op.get("parameters", item.get("parameters", [])) if p["in"] == "path"}
            assert in_path == set(re.findall(r"\{(\w+)", path)), (path, in_path)
            if "requestBody" in op:
                assert op["requestBody"]["content"]["application/json"]["schema"], (method, path)
    named = [i for i in ids if i]
    assert len(named) == len(set(named))


def schemas(node):
    """Every schema in the document, with its references."""
    if isinstance(node, dict):
        yield node
        for value in node.values():
            yield from schemas(value)
    elif isinstance(node, list):
        for value in node:
            yield from schemas(value)


def test_openapi_references_exist_and_types_are_types(document):
    for node in schemas(document):
        ref = node.get("$ref")
        if isinstance(ref, str):
            target = document
            for part in ref.removeprefix("#/").split("/"):
                target = target[part]
        kind = node.get("type")
        kinds = kind if isinstance(kind, list) else [kind] if isinstance(kind, str) else []
        assert set(kinds) <= {"string", "integer", "number", "boolean", "array", "object", "null", "http",
                              "apiKey"}, node


TYPES = {"string": str, "integer": int, "number": (int, float), "boolean": bool, "array": list, "object": dict,
         "null": type(None)}


def mistakes(document, schema, value, where):
    """Where an answer is not as the document says; a key that it does not know is one."""
    if "$ref" in schema:
        schema = document["components"]["schemas"][schema["$ref"].rsplit("/", 1)[1]]
    if "anyOf" in schema:
        found = [list(mistakes(document, s, value, where)) for s in schema["anyOf"]]
        if all(found):
            yield from min(found, key=len)
        return
    kind = schema.get("type")
    if kind and (not isinstance(value, TYPES[kind]) or (isinstance(value, bool) and kind != "boolean")):
        yield f"{where}: {value!r} is no {kind}"
        return
    if "enum" in schema and value not in schema["enum"]:
        yield f"{where}: {value!r} is none of {schema['enum']}"
    if isinstance(value, list):
        for i, item in enumerate(value):
            yield from mistakes(document, schema.get("items", {}), item, f"{where}[{i}]")
    if isinstance(value, dict) and "properties" in schema:
        yield from (f"{where}.{key} is missing" for key in set(schema.get("required", [])) - set(value))
        for key, item in value.items():
            if key in schema["properties"]:
                yield from mistakes(document, schema["properties"][key], item, f"{where}.{key}")
            else:
                yield f"{where}.{key} is not described"


PYTHON = {"language": "python", "code": "import sys; print(sys.stdin.read())"}
ARTIFACT = {"content": "print(1)", "title": "t", "language": "python", "conversation_id": "c-openapi"}
ANSWERED = [
    ("post", "/v1/runs", {**PYTHON, "outputs": ["."], "metadata": {"a": 1}, "thread_id": "t-openapi"}),
    ("post", "/v1/runs", {"language": "python", "code": "import os; os.write(1, b'\\xff'); os.kill(os.getpid(), 11)"}),
    ("post", "/v1/runs", {"language": "python", "code": "print('x' * (3 << 20))", "limits": {"output": "4m"}}),
    ("post", "/v1/runs", {"language": "python", "code": "while True: pass", "limits": {"wall_ms": 300}}),
    ("post", "/v1/runs", {**PYTHON, "wait": False}), ("get", "/v1/runs", None),
    ("post", "/v1/runs", {**PYTHON, "wait": False, "permission_mode": "default", "thread_id": "described"}),
    ("post", "/v1/batches",
     {"run": PYTHON, "inputs": [{"stdin": "1", "expected": "1", "name": "n"}, {"stdin": "1", "expected": "2"}, {}]}),
    ("post", "/v1/batches",
     {"runs": [{"language": "bash", "code": "exit 3"}, PYTHON, PYTHON], "stop_on_failure": True, "parallel": 1}),
    ("post", "/v1/comparisons",
     {"variants": [PYTHON, {"language": "bash", "code": "exit 1"}], "inputs": [{"stdin": "1"}]}),
    ("get", "/v1/languages", None), ("get", "/v1/health", None), ("get", "/v1/stats", None),
    ("get", "/v1/approvals", None),
    ("get", "/v1/keys", None), ("post", "/v1/rules", {"action": "deny", "text": "never seen", "thread_id": "t"}),
    ("get", "/v1/rules", None),
    ("post", "/api/artifacts/create", ARTIFACT), ("post", "/api/artifacts/detect", {"content": """\
```python
print(1)
```
"""}),
    ("get", "/api/agent/pending-approval/t-openapi", None), ("get", "/api/agent/state/t-openapi", None),
    ("get", "/", None),
    ("post", "/execute", {"generated_code": "print(1)", "timeout": 5}),
    ("post", "/v1/runs", {}), ("post", "/execute", {}), ("post", "/api/artifacts/create", {}),
    ("get", "/v1/nothing", None),
]


def described(document, method, path, status):
    for known, item in document["paths"].items():
        if re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", known), path) and method in item:
            responses = item[method]["responses"]
            return responses.get(str(status), responses["default"])["content"]["application/json"]["schema"]
    return {"$ref": "#/components/schemas/Error"}


@pytest.mark.parametrize("method, path, body", ANSWERED, ids=lambda v: str(v)[:40])
def test_openapi_describes_what_is_answered(document, service, method, path, body):
    """R8.1"""
    reply = service.request(method.upper(), path, body)
    assert not list(mistakes(document, described(document, method, path, reply.status), reply.json, "")), reply


def test_openapi_describes_runs_artifacts_and_events(document, service):
    run = service.run("print(1)", outputs=["."])
    artifact = service.post("/api/artifacts/create", ARTIFACT).json["id"]
    held = service.post("/v1/runs", {**PYTHON, "stdin_open": True, "wait": False}).json["id"]
    for method, path, body in [
        ("get", f"/v1/runs/{run['id']}", None), ("get", f"/v1/runs/{run['id']}/files", None),
        ("get", f"/v1/runs/{held}", None),
        ("post", f"/v1/runs/{held}/stdin", {"data": "x"}), ("delete", f"/v1/runs/{held}", None),
        ("put", f"/api/artifacts/{artifact}", {"title": "u"}), ("get", f"/api/artifacts/{artifact}/versions", None),
        ("post", f"/api/artifacts/{artifact}/fork", None), ("post", f"/api/artifacts/{artifact}/execute", {}),
        ("get", "/api/artifacts/conversations/c-openapi/artifacts", None),
    ]:
        reply = service.request(method.upper(), path, body)
        assert reply.status < 300, reply
        assert not list(mistakes(document, described(document, method, path, reply.status), reply.json, path)), reply
    for path, body, schema in [("/v1/runs", PYTHON, "Event"), ("/v1/batches", {"runs": [PYTHON]}, "BatchEvent"),
                               ("/v1/comparisons", {"variants": [PYTHON]}, "ComparisonEvent")]:
        for line in service.post(path, {**body, "stream": True}).body.splitlines():
            assert not list(mistakes(document, {"$ref": f"#/{schema}"}, json.loads(line), schema))


def test_openapi_limits_are_the_real_ones(document, service):
    limits = document["components"]["schemas"]["Limits"]["properties"]
    result = service.run("pass")["limits"]
    assert set(limits) == set(result)
    for key, schema in limits.items():
        assert schema["default"] == result[key] and schema["minimum"] <= schema["default"] <= schema["maximum"]
        assert service.run("pass", limits={key: schema["maximum"]})["limits"][key] == schema["maximum"]
        assert service.post("/v1/runs",
                            {"language": "python", "code": "1", "limits": {key: schema["maximum"] + 1}}).status == 400
        assert service.post("/v1/runs",
                            {"language": "python", "code": "1", "limits": {key: schema["minimum"] - 1}}).status == 400
