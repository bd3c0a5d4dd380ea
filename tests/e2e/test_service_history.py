"""The history of runs: found again by every property, page by page, also after a restart (R7.4)."""

import pytest

from harness import eventually
from service import ROOMY, Service, sleeper


@pytest.fixture(scope="module")
def kept():
    """A service with a known history: ten runs, oldest first."""
    with Service(*ROOMY) as s:
        s.made = [s.run(f"print('number {i}')", thread_id="even" if i % 2 == 0 else "odd") for i in range(6)]
        s.made.append(s.run("echo shell", language="bash", thread_id="sh"))
        s.made.append(s.run("1 / 0"))
        s.made.append(s.run("import time\ntime.sleep(60)", limits={"wall_ms": 200}))
        s.made.append(s.run("console.log('needle in js')", language="node"))
        yield s


def listed(s, **query):
    reply = s.get("/v1/runs", query)
    assert reply.status == 200, reply
    return reply.json


def ids(s, **query):
    return [r["id"] for r in listed(s, **query)["runs"]]


def test_service_history_is_newest_first(kept):
    assert ids(kept) == [r["id"] for r in reversed(kept.made)]


def test_service_history_rows_have_every_field(kept):
    row = listed(kept, limit=1)["runs"][0]
    assert set(row) == set("id state language verdict thread_id artifact_id batch_id surface key created_at started_at "
                           "finished_at usage".split())
    made = kept.made[-1]
    assert (row["id"], row["state"], row["verdict"], row["surface"],
            row["key"]) == (made["id"], "finished", "ok", "v1", None)
    assert row["language"] == made["language"] and row["created_at"] <= row["started_at"] <= row["finished_at"]
    assert {k: row["usage"][k] for k in ("wall_ms", "cpu_ms", "memory_peak_bytes")} == {
        k: made["usage"][k] for k in ("wall_ms", "cpu_ms", "memory_peak_bytes")}


@pytest.mark.parametrize("query, indexes", [
    ({"language": "bash"}, [6]), ({"language": "sh"}, [6]), ({"language": "js"}, [9]),
    ({"verdict": "runtime_error"}, [7]),
    ({"verdict": "timeout"}, [8]), ({"session": "even"}, [4, 2, 0]), ({"session": "nobody"}, []),
    ({"q": "needle"}, [9]),
    ({"q": "number 3"}, [3]), ({"q": "%"}, []), ({"q": "_"}, []), ({"state": "finished", "session": "odd"}, [5, 3, 1]),
    ({"state": "running"}, []), ({"since": "1h", "session": "sh"}, [6]), ({"until": "1h"}, []),
    ({"since": "2020-01-01", "until": "2020-01-02T00:00:00Z"}, []),
    ({"language": "python", "verdict": "ok", "limit": 2}, [5, 4]),
    ({"artifact": "x"}, []), ({"batch": "x"}, []), ({"key": "x"}, []),
], ids=str)
def test_service_history_filters(kept, query, indexes):
    assert ids(kept, **query) == [kept.made[i]["id"] for i in indexes]


def test_service_history_since_is_exact(kept):
    moment = kept.made[4]["timings"]["queued_at"]
    assert set(ids(kept, since=moment)) >= {r["id"] for r in kept.made[4:]} - {None}
    assert kept.made[0]["id"] not in ids(kept, since=kept.made[5]["timings"]["queued_at"])


@pytest.mark.parametrize("size", [1, 3, 5, 10, 1000])
def test_service_history_pages_give_each_run_once(kept, size):
    seen, cursor, pages = [], None, 0
    while True:
        page = listed(kept, limit=size, **({"cursor": cursor} if cursor else {}))
        assert len(page["runs"]) <= size
        seen += [r["id"] for r in page["runs"]]
        cursor, pages = page["next_cursor"], pages + 1
        if cursor is None:
            break
    assert seen == [r["id"] for r in reversed(kept.made)] and pages <= len(seen) // size + 1


def test_service_history_page_with_filter(kept):
    page = listed(kept, session="even", limit=2)
    assert [r["id"] for r in page["runs"]] == [kept.made[4]["id"], kept.made[2]["id"]] and page["next_cursor"]
    rest = listed(kept, session="even", limit=2, cursor=page["next_cursor"])
    assert [r["id"] for r in rest["runs"]] == [kept.made[0]["id"]] and rest["next_cursor"] is None


@pytest.mark.parametrize("query, field", [
    ({"limit": "0"}, "limit"), ({"limit": "1001"}, "limit"), ({"limit": "x"}, "limit"), ({"limit": "-1"}, "limit"),
    ({"limit": "1.5"}, "limit"), ({"limit": ""}, "limit"), ({"cursor": "x"}, "cursor"), ({"cursor": "0"}, "cursor"),
    ({"cursor": "' OR 1=1"}, "cursor"), ({"since": "yesterday"}, "since"), ({"until": "2026-13-99"}, "until"),
    ({"since": "-5m"}, "since"), ({"language": "cobol"}, "language"), ({"verdict": "fine"}, "verdict"),
    ({"state": "dead"}, "state"), ({"colour": "red"}, "colour"), ({"session": "x" * 600}, "session"),
], ids=str)
def test_service_history_nonsense_in_the_query(kept, query, field):
    reply = kept.get("/v1/runs", query)
    assert reply.status == 400, reply
    assert reply.error["field"] == field and reply.error["code"] == "bad_request", reply


@pytest.mark.parametrize("path", ["?limit=%", "?limit=%zz", "?q=%00", "?limit=1&limit=2"])
def test_service_history_bad_escapes_in_the_query(kept, path):
    reply = kept.get("/v1/runs" + path)
    assert reply.status in (200, 400) and (reply.status == 400 or "limit=1&" in path), reply


def test_service_history_text_is_no_sql(kept):
    assert ids(kept, q="' OR '1'='1", session="'; DROP TABLE runs; --") == []
    assert len(ids(kept)) == len(kept.made)


@pytest.mark.parametrize("run_id", ["nothing", "..", "%2e%2e", "..%2f..%2fetc%2fpasswd", "'--", "a" * 1000, "run_%0a",
                                    "%f0%9f%98%80", "%ff"])
def test_service_unknown_run_is_404(kept, run_id):
    for tail in ("", "/events", "/stdout", "/stderr", "/files", "/files/x"):
        reply = kept.get(f"/v1/runs/{run_id}{tail}")
        assert (reply.status, reply.error["code"]) == (404, "not_found"), (tail, reply)
    assert kept.delete(f"/v1/runs/{run_id}").status == 404
    assert kept.post(f"/v1/runs/{run_id}/stdin", {"data": "x"}).status == 404
    assert kept.healthy()


@pytest.mark.parametrize("name", ["../belljar.db", "..%2f..%2fbelljar.db", "%2fetc%2fpasswd", "/etc/passwd", ".",
                                  "%2e%2e", "a%00b"])
def test_service_output_names_reach_nothing_else(kept, name):
    reply = kept.get(f"/v1/runs/{kept.made[0]['id']}/files/{name}")
    assert reply.status in (400, 404) and b"root:" not in reply.body and b"SQLite" not in reply.body, reply


def test_service_history_survives_a_restart(fresh_service):
    """R7.4"""
    s = fresh_service
    made = s.run("import sys\nprint('kept')\nopen('f', 'w').write('file')\nprint('e', file=sys.stderr)", outputs=["f"],
                 thread_id="t", metadata={"m": [1]})
    big = s.run("print('x' * (3 << 20))")
    events = s.all_events(f"/v1/runs/{made['id']}/events")
    s.restart()
    assert s.get(f"/v1/runs/{made['id']}").json == made
    assert s.file(made["id"], "f") == b"file"
    assert s.all_events(f"/v1/runs/{made['id']}/events") == events
    assert s.get(f"/v1/runs/{big['id']}/stdout").body == b"x" * (3 << 20) + b"\n"
    assert ids(s) == [big["id"], made["id"]]


def test_service_run_that_died_with_the_service_is_interrupted(fresh_service):
    s = fresh_service
    run_id = s.run(sleeper(100), wait=False, status=202)["id"]
    assert eventually(lambda: s.get(f"/v1/runs/{run_id}").json["state"] == "running")
    s.popen.kill()
    s.popen.wait(10)
    assert eventually(lambda: not alive_marked(s))
    s.listen = ("127.0.0.1:0",)
    s.start()
    r = s.get(f"/v1/runs/{run_id}").json
    assert (r["state"], r["verdict"]) == ("interrupted", None) and "died" in r["error"], r
    assert ids(s, state="interrupted") == [run_id]
    assert s.delete(f"/v1/runs/{run_id}").status == 409


def alive_marked(s):
    """Processes that still use the state directory."""
    import os

    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as f:
                if str(s.state).encode() in f.read():
                    found.append(pid)
        except OSError:
            continue
    return found


def test_result_with_a_nul_is_read_again(start_service):
    """Metadata of a caller, and a table, may hold one. The whole result was once lost with it."""
    s = start_service()
    one = s.run("print(1)", metadata={"a": "x\0y"})
    two = s.run("SELECT 'a' || char(0) || 'b' AS x;", language="sqlite")
    assert two["tables"][0]["rows"] == [["a\0b"]], two
    s.restart()
    read = s.get(f"/v1/runs/{one['id']}").json
    assert (read["stdout"], read["metadata"]) == ("1\n", {"a": "x\0y"}), read
    assert s.get(f"/v1/runs/{two['id']}").json["tables"] == two["tables"]
    assert s.get(f"/v1/runs/{one['id']}/debug-report").json["report"]["output"]["stdout"] == "1\n"
