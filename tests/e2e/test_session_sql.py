"""The session programs of SQLite and PostgreSQL, bare: no jar, and the test at the other end of the channel."""
import csv
import io
import json
import os
import re
import subprocess
import tempfile

import pytest

from cells import groups
from channel import EXEC, Program
from harness import BELLJAR

pytestmark = pytest.mark.release_only  # the programs are built without sanitizers
GUEST = os.path.join(os.path.dirname(BELLJAR), "guest")
SQLITE = [f"{GUEST}/sqlite/sqlite", "--session"]
ENDLESS = "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t) SELECT count(*) FROM t"


@pytest.fixture
def sqlite():
    with Program(SQLITE) as program:
        yield program


def tables_of(reply):
    """All tables of a reply, in order, as their CSV rows without the head."""
    bundles = [fields["bundle"] for kind, fields in reply["events"] if kind in ("display", "result")]
    return [list(csv.reader(io.StringIO(bundle["text/csv"])))[1:] for bundle in bundles]


def of_sqlite3(cells):
    """The rows and the error of each cell, from the sqlite3 program with one database file."""
    outcomes = []
    script = "".join(f"{code}\n;\n.print \x01\n" for code in cells)
    with tempfile.TemporaryDirectory() as home:
        done = subprocess.run(["/usr/bin/sqlite3", "-csv", "-nullvalue", "", ":memory:"], input=script, text=True,
                              capture_output=True, cwd=home, timeout=60)
    for text in done.stdout.split("\x01\n")[:-1]:
        outcomes.append([row for row in csv.reader(io.StringIO(text))])
    return outcomes


def flat(value):
    """Rows as text for comparison; the two programs write numbers and blobs in their own ways."""
    return [[re.sub(r"\.0$", "", cell) for cell in row] for row in value]


@pytest.mark.parametrize("name, cells", [g for g in groups("sqlite.cells") if g[0] != "errors"],
                         ids=lambda v: v if isinstance(v, str) else "")
def test_cells_give_the_rows_of_sqlite3(name, cells):
    expected = of_sqlite3(cells)
    assert len(expected) == len(cells)
    with Program(SQLITE) as program:
        for code, want in zip(cells, expected, strict=True):
            reply = program.run(code)
            assert reply["status"] == "ok", (code, reply)
            if "x'00ff'" in code or "EXPLAIN" in code:  # drawn in another way
                continue
            assert flat([row for table in tables_of(reply) for row in table]) == flat(want), code


def message_of_sqlite3(code, before):
    done = subprocess.run(["/usr/bin/sqlite3", ":memory:"], input="\n;\n".join([*before, code]) + "\n;\n", text=True,
                          capture_output=True, timeout=60)
    return done.stderr


@pytest.mark.parametrize("name, cells", [g for g in groups("sqlite.cells") if g[0] == "errors"],
                         ids=lambda v: v if isinstance(v, str) else "")
def test_errors_have_the_message_of_sqlite3(name, cells):
    with Program(SQLITE) as program:
        for i, code in enumerate(cells):
            reply = program.run(code)
            whole = [cell for cell in cells[:i] if not cell.endswith(("'open", "(1", "1 +"))]  # they would go on
            theirs = message_of_sqlite3(code, whole)
            if not reply.error:
                assert reply["status"] == "ok"
                continue
            assert reply["status"] == "error" and reply.error["name"].startswith("SQLITE_"), reply.error
            if "incomplete input" not in reply.error["message"]:  # there the rest of the script would follow
                assert reply.error["message"].split(":")[0] in theirs, (code, reply.error, theirs)
            assert re.match(r"cell-\d+:\d+:\d+: error: ", reply.error["traceback"])


def test_the_cells_of_sql_are_many():
    assert sum(len(cells) for file in ("sqlite.cells", "postgres.cells") for _, cells in groups(file)) >= 60


def test_a_table_is_a_bundle_with_types(sqlite):
    sqlite.run("CREATE TABLE b (id INTEGER, name TEXT, v REAL, raw BLOB);"
               "INSERT INTO b VALUES (1, '<x>', 1.5, x'00ff')")
    reply = sqlite.run("SELECT * FROM b")
    bundle = reply.first("result")["bundle"]
    assert set(bundle) == {"text/plain", "text/html", "text/csv", "application/json"}
    assert "id" in bundle["text/plain"] and "&lt;x&gt;" in bundle["text/html"]
    assert bundle["text/csv"].startswith("id,name,v,raw")
    data = json.loads(bundle["application/json"])
    assert data["columns"] == [{"name": "id", "type": "INTEGER"}, {"name": "name", "type": "TEXT"},
                               {"name": "v", "type": "REAL"}, {"name": "raw", "type": "BLOB"}]
    assert data["rows"] == [[1, "<x>", 1.5, {"base64": "AP8="}]] and data["row_count"] == 1 and not data["truncated"]


def test_the_last_table_is_the_result_and_earlier_ones_are_displays(sqlite):
    reply = sqlite.run("SELECT 1 AS a; SELECT 2 AS b; SELECT 3 AS c")
    assert [kind for kind, _ in reply["events"]] == ["display", "display", "result"]
    assert [rows for rows in tables_of(reply)] == [[["1"]], [["2"]], [["3"]]]
    failed = sqlite.run("SELECT 1; SELECT nope")
    assert [kind for kind, _ in failed["events"]] == ["display", "error"]


def test_statements_without_rows_say_what_they_did(sqlite):
    reply = sqlite.run("CREATE TABLE w (x); INSERT INTO w VALUES (1), (2)")
    assert reply["stdout"] == "CREATE TABLE\nINSERT 2\n" and reply["events"] == []


def test_large_tables_are_cut_and_say_so(sqlite):
    reply = sqlite.run("WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t WHERE n < 50000) "
                       "SELECT n FROM t")
    result = reply.first("result")
    data = json.loads(result["bundle"]["application/json"])
    assert data["row_count"] == 50000 and data["truncated"] and len(data["rows"]) <= 1000 and "cut" in result
    assert "rows)" in result["bundle"]["text/plain"]
    huge = sqlite.run("SELECT hex(zeroblob(3000000))")
    assert huge["status"] == "ok" and json.loads(huge.first("result")["bundle"]["application/json"])["truncated"]


def test_an_interrupt_cancels_the_statement_and_the_tables_stay(sqlite):
    sqlite.run("CREATE TABLE kept (x); INSERT INTO kept VALUES (7)")
    sqlite.begin(EXEC, ("code", f"CREATE TABLE go (x); {ENDLESS}"))
    sqlite.await_output("CREATE TABLE")
    sqlite.interrupt()
    reply = sqlite.finish()
    assert (reply["status"], reply.error["name"]) == ("interrupted", "KeyboardInterrupt")
    assert tables_of(sqlite.run("SELECT x FROM kept")) == [[["7"]]]
    sqlite.interrupt()
    assert sqlite.run("SELECT 1")["status"] == "ok"


def test_an_error_has_its_place_and_a_hint(sqlite):
    sqlite.run("CREATE TABLE people (name TEXT)")
    reply = sqlite.run("SELECT 1;\nSELECT nmae FROM people")
    assert (reply.error["name"], reply.error["message"]) == ("SQLITE_ERROR", "no such column: nmae")
    assert ":2:8: error:" in reply.error["traceback"] and 'did you mean "name"?' in reply.error["traceback"]
    assert reply["stderr"] == ""


def test_names_in_sql(sqlite):
    sqlite.run("CREATE TABLE orders (order_date TEXT)")
    names = {m["text"] for m in sqlite.complete("SELECT orde")["matches"]}
    assert {"orders", "order_date", "ORDER"} <= names
    assert sqlite.variables()["orders"]["type"] == "table"


def test_inspection_of_sql_finds_tables_columns_and_functions(sqlite):
    sqlite.run("CREATE TABLE orders (order_date TEXT); CREATE TEMP VIEW late AS SELECT 1 AS n")
    assert sqlite.inspect("SELECT * FROM main.Orders", 24) == {
        "found": True, "text": "table orders\nCREATE TABLE orders (order_date TEXT)"}
    assert sqlite.inspect("order_date", 3)["text"] == "column orders.order_date TEXT"
    assert sqlite.inspect("late")["text"].startswith("view late\nCREATE VIEW late")
    assert "function substr of 3 arguments" in sqlite.inspect("SELECT substr(", 13)["text"]
    for code in ("", "  ", "nothing_of_this_name", "'; DROP TABLE orders; --"):
        assert sqlite.inspect(code) == {"found": False, "text": ""}, code
    assert tables_of(sqlite.run("SELECT count(*) FROM orders")) == [[["0"]]]


def test_inspection_of_sql_works_after_an_interrupted_cell(sqlite):
    sqlite.run("; ".join(f"CREATE TABLE t{n} (c{n} TEXT)" for n in range(300)))
    sqlite.begin(EXEC, ("code", ENDLESS))
    sqlite.interrupt()
    assert sqlite.finish()["status"] == "interrupted"
    assert sqlite.inspect("c299")["text"] == "column t299.c299 TEXT"


def test_a_nul_and_a_silent_cell(sqlite):
    assert sqlite.run("SELECT 1\0")["status"] in ("ok", "error")
    silent = sqlite.run("SELECT 42", flags="silent")
    assert silent["status"] == "ok" and silent["events"] == []
