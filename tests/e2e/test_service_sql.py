"""SQL over HTTP: tables in results, formats, and PostgreSQL servers that are up before their job (R2.5)."""

import os
import signal
import time

import pytest

from harness import PATIENCE, eventually
from hostview import descendants
from service import Service
from sql import LANGUAGES, prepare

BOTH = pytest.mark.parametrize("lang", LANGUAGES)


@pytest.fixture(scope="module")
def s():
    prepare()
    with Service("--set", "limits.memory.max=1g") as service:
        yield service


def pool(s, kind="postgres"):
    return s.get("/v1/stats").json["pools"][kind]


def warm_up(s, kind="postgres"):
    """Until an embryo of this kind waits."""
    if pool(s, kind)["zygote"] == "off":
        s.run("SELECT 1", language=kind)

    def waits():  # the statistics may be a moment old
        if pool(s, kind)["ready"] < 1:
            return False
        time.sleep(0.3)
        return pool(s, kind)["ready"] >= 1

    assert eventually(waits, 20 * PATIENCE), pool(s, kind)


def run_warm(s, code, language="postgres", **fields):
    """An embryo that waited runs it. The statistics of pools may be older than the last run that took one."""
    for _ in range(5):
        warm_up(s, language)
        result = s.run(code, language=language, **fields)
        if result["start"] == "warm":
            return result
    raise AssertionError(result)


@pytest.fixture
def warm(s, sealed):
    s.run("SELECT 1", language="postgres")
    warm_up(s)
    return s


@BOTH
def test_results_have_tables(s, lang):
    result = s.run("SELECT 1 AS a, 'x' AS b, NULL AS c;", language=lang)
    assert result["verdict"] == "ok" and result["files"] == [], result
    table = result["tables"][0]
    assert table["rows"] == [[1, "x", None]] and table["row_count"] == 1 and table["truncated"] is False
    assert [c["name"] for c in table["columns"]] == ["a", "b", "c"]
    assert s.get(f"/v1/runs/{result['id']}").json["tables"] == result["tables"], "the history has them"


def test_other_languages_have_none(s):
    assert s.run("echo hi > .belljar-report.json", language="bash", outputs=[".belljar-report.json"])["tables"] is None


@BOTH
@pytest.mark.parametrize("fmt, start", [("table", " a\n---\n 1\n"), ("csv", "a\r\n1\r\n"), ("json", '[{"a": 1}]\n'),
                                        ("markdown", "|   a |\n"), ("html", "<table>\n")])
def test_format_is_a_field_of_the_request(s, lang, fmt, start):
    assert s.run("SELECT 1 AS a", language=lang, format=fmt)["stdout"].startswith(start)


def test_format_that_is_none_is_refused(s):
    error = s.post("/v1/runs", {"code": "SELECT 1", "language": "sqlite", "format": "xml"}).error
    assert error["field"] == "format" and "markdown" in error["message"]


@BOTH
def test_fixtures_come_with_the_request(s, lang):
    files = [{"name": "fixtures/users.csv", "content": "id,name\n1,Ann\n2,\n"},
             {"name": "fixtures/0.sql", "content": "CREATE TABLE one(a integer); INSERT INTO one VALUES (7);"}]
    result = s.run("SELECT * FROM users ORDER BY id; SELECT a FROM one", language=lang, files=files)
    assert [t["rows"] for t in result["tables"]] == [[[1, "Ann"], [2, None]], [[7]]], result


@BOTH
def test_aliases(s, lang):
    for alias in {"sqlite": ("sql", "sqlite3", "SQL"), "postgres": ("postgresql", "psql", "PostgreSQL")}[lang]:
        assert s.run("SELECT 1 AS a", language=alias)["language"] == lang


def test_report_that_a_guest_wrote_is_checked(s):
    huge = "COPY (SELECT repeat('[', 5000000)) TO '/sandbox/.belljar-report.json'"
    for script in (huge, "COPY (SELECT '{\"tables\": 5}') TO '/sandbox/.belljar-report.json'"):
        result = s.run(script, language="postgres")
        assert result["verdict"] == "ok" and result["tables"] is None and result["files"] == [], result
    assert s.healthy()


# ---- warm ----

def test_server_is_up_before_the_job(warm):
    for _ in range(3):  # again when the machine was too busy to tell
        result = run_warm(warm, "SELECT 1 AS a")
        assert result["tables"][0]["rows"] == [[1]], result
        if result["usage"]["cpu_ms"] < 40 and result["usage"]["wall_ms"] < 40 * PATIENCE:
            break
    assert result["usage"]["cpu_ms"] < 40 and result["usage"]["wall_ms"] < 40 * PATIENCE, result["usage"]


def test_warm_and_cold_answer_alike(warm):
    script = """CREATE TABLE t(a serial, b text); INSERT INTO t(b) VALUES ('x'), (NULL); SELECT * FROM t;
        SHOW data_directory; SELECT current_setting('max_connections'), pg_is_in_recovery();
        CREATE DATABASE other; SELECT datname FROM pg_database ORDER BY 1; SELECT nope"""
    hot = run_warm(warm, script)
    cold = warm.run(script, language="postgres", env={"PGTZ": "UTC"})
    assert (hot["start"], cold["start"]) == ("warm", "cold")
    for field in ("stdout", "stderr", "exit_code", "verdict", "tables"):
        assert hot[field] == cold[field], field


def test_no_two_servers_have_anything_in_common(warm):
    script = ("SELECT random(), gen_random_uuid(); CREATE TABLE mine(a int); "
              "SELECT count(*) FROM pg_class WHERE relname = 'mine';")
    seen = []
    for _ in range(3):
        warm_up(warm)
        seen.append(warm.run(script, language="postgres"))
    values = [v for r in seen for v in r["tables"][0]["rows"][0]]
    assert len(set(values)) == len(values) and all(r["tables"][1]["rows"] == [[1]] for r in seen), seen


def servers(s):
    """The first process of each."""
    found = [p for p in descendants(s.pid) if p.comm == "postgres"]
    return [p for p in found if not any(q.pid == p.ppid for q in found)]


def at_rest(s):
    """(The pool, its servers), while nothing is built and there are as many of these as wait; else None."""
    there, up = pool(s), servers(s)
    return (there, up) if there["building"] == 0 and there["ready"] == len(up) else None


def test_embryo_whose_server_died_does_not_serve(warm, as_root):
    found = eventually(lambda: (at := at_rest(warm)) and at[1] and at, 10 * PATIENCE)
    assert found, (pool(warm), servers(warm))
    before, mothers = found
    for p in mothers:
        os.kill(p.pid, signal.SIGKILL)
    assert eventually(lambda: pool(warm)["discarded"] >= before["discarded"] + len(mothers), 10 * PATIENCE), pool(warm)
    warm_up(warm)
    assert warm.run("SELECT 1 AS a", language="postgres")["tables"][0]["rows"] == [[1]]


@pytest.mark.parametrize("limits, verdict", [({"disk": "8m"}, "disk_limit"), ({"memory": "16m"}, "memory_limit"),
                                             ({"pids": 3}, "process_limit")])
def test_limits_below_what_a_server_has_used_start_cold_and_are_told(warm, limits, verdict):
    result = warm.run("SELECT 1", language="postgres", limits=limits)
    assert (result["start"], result["verdict"]) == ("cold", verdict), result
    assert result["exit_code"] != 0, result


def test_limits_of_the_job_are_the_servers(warm):
    """A server that was up before the job keeps the limits that come with the job."""
    result = run_warm(warm, "SELECT length(string_agg(repeat('x', 1000000), '')) FROM generate_series(1, 900)",
                      limits={"memory": "96m"})
    assert result["verdict"] == "memory_limit", result
    assert run_warm(warm, "SELECT pg_sleep(60)", limits={"wall_ms": 500})["verdict"] == "timeout"
    endless = "SELECT count(*) FROM generate_series(1, 9000) a, generate_series(1, 90000) b"
    result = run_warm(warm, endless, limits={"cpu_ms": 300, "wall_ms": 60000})
    assert result["verdict"] == "cpu_timeout", result


def test_servers_end_with_their_runs(warm):
    for _ in range(3):
        run_warm(warm, "SELECT 1")
    assert eventually(lambda: at_rest(warm), 10 * PATIENCE), (pool(warm), servers(warm))


def test_sqlite_is_warm(s, sealed):
    result = run_warm(s, "SELECT ?1 AS a", "sqlite", args=["7"])
    assert result["tables"][0]["rows"] == [[7]], result
