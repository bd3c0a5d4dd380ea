"""SQL as `belljar run` has it: SQLite and PostgreSQL, results as typed tables (R2.5)."""

import json

import pytest

from harness import belljar
from sql import LANGUAGES, ask, rows, types

BOTH = pytest.mark.parametrize("lang", LANGUAGES)

PEOPLE = """
CREATE TABLE people(id integer PRIMARY KEY, name text, height real);
INSERT INTO people VALUES (1, 'Ann', 1.5), (20, NULL, 2.25), (3, '日本
two', NULL);
"""
ALL = "SELECT id, name, height FROM people ORDER BY id;"

CSV = 'id,name,height\r\n1,Ann,1.5\r\n3,"日本\ntwo",\r\n20,,2.25\r\n'
JSON = """\
[{"id": 1, "name": "Ann", "height": 1.5},
 {"id": 3, "name": "日本\\ntwo", "height": null},
 {"id": 20, "name": null, "height": 2.25}]
"""
HTML = """\
<table>
<thead><tr><th>id</th><th>name</th><th>height</th></tr></thead>
<tbody>
<tr><td class="number">1</td><td>Ann</td><td class="number">1.5</td></tr>
<tr><td class="number">3</td><td>日本<br>two</td><td class="null">NULL</td></tr>
<tr><td class="number">20</td><td class="null">NULL</td><td class="number">2.25</td></tr>
</tbody>
</table>
"""


def after_tags(text):
    """The output after the lines about CREATE and INSERT."""
    lines = text.splitlines(keepends=True)
    while lines and lines[0].startswith(("CREATE", "INSERT")):
        lines.pop(0)
    return "".join(lines)


@BOTH
@pytest.mark.parametrize("fmt, wanted", [("csv", CSV), ("json", JSON), ("html", HTML)])
def test_formats_for_programs_are_exact(lang, fmt, wanted):
    result = ask(PEOPLE + ALL, lang, fmt=fmt, json=False)
    assert (result.status, result.out.decode(), result.err) == (0, wanted, b""), result


@BOTH
def test_table_is_aligned_by_width_and_numbers_stand_right(lang):
    text = after_tags(ask(PEOPLE + ALL, lang).stdout)
    assert text.splitlines() == [
        " id | name | height",
        "----+------+--------",
        "  1 | Ann  |    1.5",
        "  3 | 日本+|   NULL",
        "    | two  |",
        " 20 | NULL |   2.25",
        "(3 rows)",
    ]


@BOTH
def test_markdown_is_a_table_of_markdown(lang):
    text = ask(PEOPLE + ALL, lang, fmt="markdown").stdout
    assert text.splitlines() == [
        "|  id | name        | height |",
        "| --: | ----------- | -----: |",
        "|   1 | Ann         |    1.5 |",
        "|   3 | 日本<br>two |   NULL |",
        "|  20 | NULL        |   2.25 |",
    ]


@BOTH
def test_statements_say_what_they_did(lang):
    script = PEOPLE + "UPDATE people SET height = 1 WHERE id < 5; DELETE FROM people; SELECT 1 AS one;"
    lines = ask(script, lang).stdout.splitlines()
    inserted = "INSERT 0 3" if lang == "postgres" else "INSERT 3"
    assert lines[:4] == ["CREATE TABLE", inserted, "UPDATE 2", "DELETE 3"], lines
    assert ask(script, lang, fmt="csv").stdout == "one\r\n1\r\n", "formats for programs hold results alone"


@BOTH
def test_several_results_are_several_tables(lang):
    result = ask("SELECT 1 AS a; SELECT 2 AS b, 'x' AS c;\n\nSELECT 3 AS d WHERE 1 = 0;", lang)
    tables = result.json["tables"]
    assert [[c["name"] for c in t["columns"]] for t in tables] == [["a"], ["b", "c"], ["d"]]
    assert [t["rows"] for t in tables] == [[[1]], [[2, "x"]], []]
    assert [t["line"] for t in tables] == [1, 1, 3]
    assert [t["row_count"] for t in tables] == [1, 1, 0] and not any(t["truncated"] for t in tables)


def test_types_and_values_of_sqlite():
    result = ask("""
        CREATE TABLE t(a INTEGER, b VARCHAR(9), c REAL, d BLOB, e);
        INSERT INTO t VALUES (9007199254740993, 'x', 2, x'00ff', NULL), (-1, '', 1e300, x'', 'late');
        SELECT a, b, c, d, e, 1 + 1 AS f, NULL AS g FROM t; SELECT 0.1, 123456789.012345;""")
    assert result.verdict == "ok", result
    assert types(result) == {"a": "INTEGER", "b": "VARCHAR(9)", "c": "REAL", "d": "BLOB", "e": "text", "f": "integer",
                             "g": "null"}
    assert rows(result) == [["9007199254740993", "x", 2.0, {"base64": "AP8="}, None, 2, None],
                            [-1, "", 1e300, {"base64": ""}, "late", 2, None]]
    assert rows(result, 1) == [[0.1, 123456789.012345]]


def test_types_and_values_of_postgres():
    result = ask("""
        CREATE TYPE mood AS ENUM ('glad', 'sad');
        SELECT 1::smallint AS a, 2 AS b, 9007199254740993 AS c, 1.50 AS d, 'NaN'::float8 AS e, 0.1::float4 AS f,
               true AS g,
               '\\x00ff'::bytea AS h, '{"k": [1]}'::jsonb AS i, date '2024-02-29' AS j, 'glad'::mood AS k,
               ARRAY[1, NULL] AS l, NULL AS m, 'x'::varchar(5) AS n, timestamptz '2024-01-01 00:00+00' AS o;""",
               "postgres")
    assert result.verdict == "ok", result
    assert types(result) == {
        "a": "smallint", "b": "integer", "c": "bigint", "d": "numeric", "e": "double precision", "f": "real",
        "g": "boolean",
        "h": "bytea", "i": "jsonb", "j": "date", "k": "mood", "l": "integer[]", "m": "text", "n": "character varying",
        "o": "timestamp with time zone"}
    assert rows(result) == [[1, 2, "9007199254740993", "1.50", "NaN", 0.1, True, {"base64": "AP8="}, '{"k": [1]}',
                             "2024-02-29", "glad", "{1,NULL}", None, "x", "2024-01-01 00:00:00+00"]]


def test_postgres_is_a_real_server():
    script = """
        CREATE FUNCTION f(n int) RETURNS int LANGUAGE plpgsql
        AS $$ BEGIN RAISE NOTICE 'n; is %', n; RETURN n * 2; END $$;
        BEGIN; SELECT f(21); ROLLBACK;
        CREATE FUNCTION g() RETURNS int BEGIN ATOMIC SELECT 1; SELECT 2; END;
        SELECT g();
        SELECT version() LIKE 'PostgreSQL%' AS v, current_user, current_database(),
               now() - pg_postmaster_start_time() < '1 min';
        WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r WHERE i < 5) SELECT sum(i) FROM r;"""
    result = ask(script, "postgres")
    assert result.verdict == "ok", result
    assert [t["rows"] for t in result.json["tables"]] == [[[42]], [[2]], [[True, "sandbox", "sandbox", True]], [[15]]]
    assert result.stderr == "psql:main.pgsql:4: NOTICE:  n; is 21\n"


@BOTH
def test_arguments_are_values_of_parameters(lang):
    script = {"sqlite": "SELECT ?1 + 1 AS a, ?2 AS b LIMIT ?3",
              "postgres": "SELECT $1::int + 1 AS a, $2::text AS b LIMIT $3"}[lang]
    result = ask(script, lang, args=["41", "it's; --", "1"])
    assert rows(result) == [[42, "it's; --"]], result
    missing = ask(script, lang, args=["41"])
    assert missing.json["exit_code"] == 1 and "1 argument was given" in missing.stderr, missing


# ---- errors ----

def test_errors_of_sqlite_name_line_column_and_what_was_meant():
    result = ask("CREATE TABLE people(name TEXT);\n-- ü; x\nSELECT 'ü', nmae\n  FROM people;\nSELECT 1;")
    assert (result.verdict, result.json["exit_code"]) == ("runtime_error", 1)
    assert result.stderr == (
        "main.sql:3:13: error: no such column: nmae [SQLITE_ERROR]\n"
        "    3 | SELECT 'ü', nmae\n"
        "      |             ^\n"
        'hint: did you mean "name"?\n')
    assert result.stdout == "CREATE TABLE\n", "nothing runs after an error"


@pytest.mark.parametrize("script, message", [
    ("SELEC 1", 'main.sql:1:1: error: near "SELEC": syntax error [SQLITE_ERROR]\n'),
    ("SELECT 1;\n  SELECT (2", "main.sql:2:12: error: incomplete input [SQLITE_ERROR]\n"),
    ("SELECT 'open", "hint: the quote that opens here is not closed\n"),
    (".tables", "hint: commands that begin with a dot belong to the sqlite3 program and are not SQL\n"),
    ("CREATE TABLE t(a UNIQUE);\nINSERT INTO t VALUES (1);\nINSERT INTO t VALUES (1);",
     "main.sql:3:1: error: UNIQUE constraint failed: t.a [SQLITE_CONSTRAINT_UNIQUE]\n"),
    ("CREATE TABLE users(a);\nSELECT * FROM user;", 'hint: did you mean "users"?\n'),
    ("SELECT load_extension('x')", "not authorized"),
    (b"SELECT 1;\0", "the script contains a NUL"),
])
def test_errors_of_sqlite(script, message):
    result = ask(script)
    assert result.json["exit_code"] == 1 and message in result.stderr, result


@pytest.mark.parametrize("script, message", [
    ("""\
SELECT 1;

SELECT 'ü', nme
  FROM people;""", """\
psql:main.pgsql:4: ERROR:  42P01: relation "people" does not exist
LINE 4:   FROM people;
"""),
    ("CREATE TABLE people(name text);\nSELECT 'ü', nmae\n FROM people;",
     "psql:main.pgsql:2: ERROR:  42703: column \"nmae\" does not exist\n"
     "LINE 2: SELECT 'ü', nmae\n"
     "                    ^\n"
     "HINT:  Perhaps you meant to reference the column \"people.name\".\n"),
    ("CREATE TABLE people(name text);\nSELECT * FROM poeple",
     "LINE 2: SELECT * FROM poeple\n                      ^\nHINT:  Perhaps you meant the table \"people\".\n"),
    ("CREATE TABLE t(a int UNIQUE); INSERT INTO t VALUES (1);\nINSERT INTO t VALUES (1);",
     "psql:main.pgsql:2: ERROR:  23505: duplicate key value violates unique constraint \"t_a_key\"\n"
     "DETAIL:  Key (a)=(1) already exists.\n"),
    ("SELECT 1/0;", "psql:main.pgsql:1: ERROR:  22012: division by zero\n"),
    ("SELECT 1;\n\\d people", "psql:main.pgsql:2: ERROR:  42601: lines that begin with a backslash"),
    ("SELECT 'open", "42601: unterminated quoted string"),
    ("SELECT pg_terminate_backend(pg_backend_pid())", "psql:main.pgsql:1: FATAL:  57P01: terminating connection"),
    (b"SELECT '\xff'", "22021: invalid byte sequence"),
])
def test_errors_of_postgres(script, message):
    result = ask(script, "postgres")
    assert result.json["exit_code"] == 1 and message in result.stderr, result


def test_rows_before_an_error_are_shown_and_only_whole_results_are_tables():
    result = ask("SELECT 1 AS a; SELECT 1 / (3 - i) AS b FROM generate_series(1, 5) AS i;", "postgres")
    assert "division by zero" in result.stderr and len(result.json["tables"]) == 1, result


# ---- fixtures ----

FIXTURES = {
    "fixtures/01_schema.sql": "CREATE TABLE towns(zip text, name text, people integer);",
    "fixtures/02_towns.csv": 'zip,name,people\n01067,"Dresden, ""old""",563011\n99999,,\n',
    "fixtures/visits.csv": "\ufeffid,score,code,note\r\n1,1.5,007,\r\n2,,x,\"\"\r\n",
    "fixtures/readme.txt": "not a fixture",
}


@BOTH
def test_fixtures_are_there_before_the_script(lang):
    result = ask("SELECT * FROM towns ORDER BY zip; SELECT * FROM visits ORDER BY id;", lang, files=FIXTURES)
    assert result.verdict == "ok", result
    assert rows(result) == [["01067", 'Dresden, "old"', 563011], ["99999", None, None]]
    number = "numeric" if lang == "postgres" else "REAL"
    assert {k: v.upper() for k, v in types(result, 1).items()} == {
        "id": "INTEGER", "score": number.upper(), "code": "TEXT", "note": "TEXT"}
    assert rows(result, 1) == [[1, "1.5" if lang == "postgres" else 1.5, "007", None], [2, None, "x", ""]]


@BOTH
@pytest.mark.parametrize("files, message", [
    ({"fixtures/a.csv": "x,y\n1,2\n3\n"}, "fixtures/a.csv:3:1: error: 1 field: the first line names 2 columns"),
    ({"fixtures/a.csv": 'x\n"open\n'}, "fixtures/a.csv:2:1: error: the quote that opens in line 2 is not closed"),
    ({"fixtures/a.csv": ""}, "fixtures/a.csv:1:1: error: the first line must name the columns"),
    ({"fixtures/a.csv": "x,\n1,2\n"}, "fixtures/a.csv:1:1: error: a column has no name"),
])
def test_fixtures_that_are_wrong_are_named_with_their_line(lang, files, message):
    result = ask("SELECT 1", lang, files=files)
    assert result.json["exit_code"] == 1 and message in result.stderr and result.stdout == "", result


@BOTH
def test_rows_a_fixture_may_not_have_are_named_with_their_line(lang):
    files = {"fixtures/0.sql": "CREATE TABLE t(a integer NOT NULL, b text);", "fixtures/1_t.csv": 'a,b\n1,"x\ny"\n,z\n'}
    result = ask("SELECT 1", lang, files=files)
    assert "fixtures/1_t.csv:4:" in result.stderr and result.json["exit_code"] == 1, result
    broken = ask("SELECT 1", lang, files={"fixtures/0.sql": "SELECT 1;\nSELEC 2"})
    assert "fixtures/0.sql:2:" in broken.stderr and broken.stdout == "", broken


def test_sqlite_database_may_be_a_file_that_comes_and_goes(public_path):
    made = public_path / "shop.db"
    main = public_path / "q.sql"
    main.write_text("CREATE TABLE t(a); INSERT INTO t VALUES (42);")
    first = belljar("run", "-l", "sqlite", "--out", f"shop.db:{made}", main, "--", "--db", "shop.db")
    assert first.status == 0 and made.read_bytes().startswith(b"SQLite format 3"), first
    main.write_text("SELECT a FROM t")
    second = belljar("run", "--json", "--file", made, main, "--", "--db", "shop.db")
    assert rows(second) == [[42]], second


# ---- COPY ----

def test_copy_takes_lines_of_the_script_or_standard_input_and_files():
    inline = """\
CREATE TABLE t(a int, b text);
COPY t FROM STDIN (FORMAT csv);
1,x;y
2,"q"
\\.
SELECT * FROM t ORDER BY a;"""
    assert rows(ask(inline, "postgres")) == [[1, "x;y"], [2, "q"]]
    stdin = "CREATE TABLE t(a int, b text);\nCOPY t FROM STDIN;\nSELECT count(*), max(b) FROM t;"
    data = b"".join(b"%d\trow %05d\n" % (i, i) for i in range(20000))
    assert rows(ask(stdin, "postgres", stdin=data)) == [[20000, "row 19999"]]
    file = "CREATE TABLE t(a int); COPY t FROM '/sandbox/data.txt'; SELECT sum(a) FROM t; COPY t TO STDOUT;"
    result = ask(file, "postgres", files={"data.txt": "1\n2\n"})
    assert rows(result) == [[3]] and result.stdout.endswith("(1 row)\n1\n2\nCOPY 2\n"), result


# ---- bounds ----

MANY = {"sqlite": "WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r WHERE i < {n}) SELECT i, '{pad}' AS "
                  "p FROM r;",
        "postgres": "SELECT generate_series(1, {n}) AS i, '{pad}' AS p;"}


@BOTH
def test_huge_results_are_printed_whole_and_reported_in_part(lang):
    n = 200000
    result = ask(MANY[lang].format(n=n, pad="x" * 20), lang, options=["--memory", "96m"])
    table = result.json["tables"][0]
    assert (result.verdict, table["row_count"], table["truncated"]) == ("ok", n, True)
    assert len(table["rows"]) == 1000 and table["rows"][999][0] == 1000
    assert result.stdout.endswith(f" {n} | {'x' * 20}\n({n} rows)\n")
    assert result.usage["memory_peak_bytes"] < 96 << 20


@BOTH
def test_reports_are_bounded_in_bytes(lang):
    result = ask(MANY[lang].format(n=900, pad="x" * 5000) * 2 + "SELECT 1;", lang, fmt="csv")
    tables = result.json["tables"]
    assert [t["row_count"] for t in tables] == [900, 900, 1] and tables[0]["truncated"] and tables[1]["truncated"]
    assert len(json.dumps(tables)) < (1 << 20) + 10000


@BOTH
@pytest.mark.parametrize("limit", ["timeout", "memory", "output"])
def test_limits_end_sql_with_their_verdict(lang, limit, needs):
    script, options = {
        "timeout": ({"postgres": "SELECT 1 AS a; SELECT pg_sleep(60)",
                     "sqlite": "SELECT 1 AS a; "
                     + MANY["sqlite"].format(n=10**12, pad="").replace("SELECT i, '' AS p", "SELECT count(*)")}[lang],
                    ["--timeout", "1s"]),
        "memory": ({"postgres": "SELECT 1 AS a; SELECT length(string_agg(repeat('x', 1000000), '')) FROM "
                                "generate_series(1, 900)",
                    "sqlite": "SELECT 1 AS a; SELECT length(zeroblob(900000000) || zeroblob(90000000))"}[lang],
                    ["--memory", "128m"]),
        "output": (MANY[lang].format(n=10**7, pad="x" * 100), ["--output", "1m"]),
    }[limit]
    needs("memory" if limit == "memory" else "output")
    result = ask(script, lang, options=options)
    assert result.verdict == {"timeout": "timeout", "memory": "memory_limit", "output": "output_limit"}[limit], result
    if limit != "output":
        assert rows(result) == [[1]], "what was answered before is kept"


@pytest.mark.parametrize("option, value, hit, words, more", [
    ("disk", "1m", "disk", "allow 24 MiB or more", "--disk 24m"),
    ("disk", "15m", "disk", "allow 24 MiB or more", "--disk 24m"),
    ("files", "100", "files", "allow 1000 or more", "--files 1000"),
])
def test_disk_too_small_for_a_server_is_said_with_what_it_takes(option, value, hit, words, more, needs):
    """The verdict is the disk's, and the advice is no smaller than what works."""
    needs(option)
    result = ask("SELECT 1", "postgres", options=["--" + option, value])
    assert (result.verdict, result.hits) == ("disk_limit", [hit]) and words in result.stderr, result
    diagnosis = result.json["diagnosis"]
    assert diagnosis["category"] == "resource" and words in diagnosis["causes"][0]["message"], diagnosis
    assert more in diagnosis["suggestions"][0]["text"] and len(diagnosis["suggestions"]) == 1, diagnosis
    limit = more.split()
    assert ask("SELECT 1", "postgres", options=limit).verdict == "ok"


def test_processes_too_few_for_a_server_are_said():
    result = ask("SELECT 1", "postgres", options=["--pids", "3"])
    assert result.json["exit_code"] != 0 and "did not start" in result.stderr, result


FILL = {
    "postgres": "CREATE TABLE t AS SELECT repeat('x', 1000) AS v FROM generate_series(1, 1000000) AS i ORDER BY "
                "random()",
    "sqlite": "ATTACH 'big.db' AS x; CREATE TABLE x.t AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM "
              "n WHERE i < 200000)"
              " SELECT printf('%0200d', i) AS v FROM n",
}


@BOTH
def test_disk_that_a_database_emptied_again_is_still_what_ended_it(lang, needs):
    """A database takes back what it could not finish: at the end there is room again."""
    needs("disk")
    result = ask(FILL[lang], lang, options=["--disk", "20m"])
    assert (result.verdict, result.hits, result.status) == ("disk_limit", ["disk"], 1), result


def test_database_that_keeps_itself_small_is_no_full_disk():
    for schema in ("main", "x"):
        fill = FILL["sqlite"].split(";")[1].replace("x.t", schema + ".t")
        small = f"ATTACH 'big.db' AS x; PRAGMA {schema}.max_page_count = 10;" + fill
        result = ask(small, "sqlite", options=["--disk", "20m"])
        assert (result.verdict, result.hits) == ("runtime_error", []) and "SQLITE_FULL" in result.stderr, result


@BOTH
def test_outputs_and_report_do_not_meet(lang):
    """The report is ours: never among the files, whoever asks for it."""
    plain = ask("SELECT 1 AS a", lang)
    assert plain.json["files"] == [] and rows(plain) == [[1]]


def test_report_the_guest_wrote_is_data_and_no_more():
    forged = ask("""
        CREATE TABLE t(a text);
        INSERT INTO t VALUES ('{"tables": [{"columns": [], "rows": [], "row_count": 7, "verdict": "ok"}]}');
        COPY t TO '/sandbox/.belljar-report.json';
        SELECT pg_sleep(0);
        COPY t TO PROGRAM 'cat > /sandbox/.belljar-report.json; sleep 0';""", "postgres")
    assert forged.verdict == "ok" and forged.json["tables"] is None, forged
    link = ask("COPY (SELECT 1) TO PROGRAM 'cat >/dev/null; rm -f /sandbox/.belljar-report.json; ln -s /etc/passwd "
               "/sandbox/.belljar-report.json'",
               "postgres")
    assert link.json["tables"] is None and link.json["files"] == [], link


# ---- the jar around it ----

def test_postgres_is_the_jars_and_nobody_elses(here, whole_jar):
    """COPY … PROGRAM is the guest's right, and reaches what any program of the jar reaches."""
    result = ask("""\
CREATE TABLE o(line text);
COPY o FROM PROGRAM 'id -u; ls /home /root 2>&1 | head -3; cat /proc/net/dev | wc -l; touch /usr/x 2>&1; true';
SELECT line FROM o; DROP DATABASE sandbox;""", "postgres")
    lines = [r[0] for r in rows(result)]
    assert lines[0] == "1000" and any("Read-only" in line or "ermission" in line for line in lines), result
    assert "cannot drop the currently open database" in result.stderr


def test_nothing_of_a_server_is_left(host):
    """The fixture compares processes, mounts, cgroups and files when it is over."""
    result = ask("CREATE DATABASE other; SELECT 1 AS a", "postgres")
    assert rows(result) == [[1]], result


def test_two_jars_do_not_see_each_other(public_path):
    first = ask("CREATE TABLE only_here(a int); SELECT inet_server_addr() IS NULL AS local, count(*) FROM pg_database;",
                "postgres")
    second = ask("SELECT count(*) FROM pg_class WHERE relname = 'only_here';", "postgres")
    assert rows(first) == [[True, 2]] and rows(second) == [[0]], (first, second)


def test_level_process_has_sqlite_and_says_why_there_is_no_postgres():
    assert rows(ask("SELECT 1", options=["--isolation", "process"])) == [[1]]
    refused = ask("SELECT 1", "postgres", options=["--isolation", "process"])
    assert refused.json["exit_code"] == 1 and "use level jar or rootless" in refused.stderr, refused
