"""Forks of sessions of bash, SQLite and PostgreSQL in jars: POST /v1/sessions/{id}/fork."""

import pytest
from service import Service
from sessions import copies_of, create, end_sessions, execute, fork, open_sessions, output, rows

pytestmark = pytest.mark.release_only  # the programs are built without sanitizers


@pytest.fixture(scope="module")
def service():
    with Service("--set", "runs.max=8", "--set", "sessions.max=12") as s:
        yield s


@pytest.fixture(autouse=True)
def no_session_is_left(service):
    before = open_sessions(service)
    yield
    end_sessions(service, before)


# ---- bash ----

BASH_STATE = r"""mkdir sub; cd sub; x=5; declare -i n=7; readonly r=fixed; export E=out
declare -a a=([0]=one [5]='two words'); declare -A m=([k]='v w' [q]=$'a\nb'); declare -n ref=x
f() { local y=$1; echo "f $y $x ${m[k]}"; }; alias hi='echo hello'; shopt -s extglob expand_aliases nullglob
set -o pipefail -u; trap 'echo usr1' USR1; umask 027; set -- p 'q r'; ulimit -S -n 200
printf 'line 1\nline 2\nline 3\n' >kept; exec 7<kept 8>>log; read -u 7 first; echo start >&8; exec 9>&8
exec 5>gone; echo abc >&5; rm gone; ln -s kept link; chmod 640 kept; echo of-tmp >/tmp/other
getopts ab opt -a -b; hash -p /bin/true nothing; big=$(head -c 3000000 /dev/zero | tr '\0' z); (exit 3)"""
BASH_LOOK = r"""echo "status $?"; declare -p n r a m ref E first opt OPTIND; f 1; hi; shopt extglob nullglob
set -o | grep -E 'pipefail|nounset'; trap -p USR1; kill -USR1 $$; umask; ulimit -S -n; echo "$# $1 $2 $PWD $(pwd)"
read -u 7 next; echo "$next"; echo more >&8; echo again >&9; cat log; readlink link; stat -c %a kept; cat /tmp/other
echo ${#big}; hash -t nothing; cat </proc/self/fd/5; (( BASHPID == $$ )) && echo same; ls /sandbox"""


def test_a_fork_of_a_shell_has_everything_and_shares_nothing(service):
    plain, original = create(service, "bash"), create(service, "bash", limits={"memory": "300m"})
    for session in (plain, original):
        assert execute(service, session, BASH_STATE)["error"]["message"] == "3"
    made = fork(service, original, count=2)
    assert made["not_carried"] == [] and made["image_bytes"] > 3_000_000 and made["pause_ms"] > 0
    copies = [s["id"] for s in made["sessions"]]
    expected = output(service, plain, BASH_LOOK)
    for session in (copies[0], original, copies[1]):
        assert output(service, session, BASH_LOOK) == expected, session
    output(service, copies[0], "x=changed; unset -f f; rm -r /sandbox/sub; touch /tmp/new")
    for session in (original, copies[1]):
        assert output(service, session, "f 2; ls /tmp/new; cat kept | wc -l") == "f 2 5 v w\n3\n"
    assert service.delete(f"/v1/sessions/{original}").status == 200
    assert output(service, copies[1], "for i in {1..30000}; do v[i]=$i$x; done; echo ${#v[@]} | cat") == "30000\n"


def test_random_numbers_of_forked_shells_differ(service):
    session = create(service, "bash")
    output(service, session, "RANDOM=42; draw() { echo $RANDOM $RANDOM $SRANDOM; }; draw")
    drawn = [output(service, s, "draw") for s in (session, *copies_of(service, session, count=4))]
    for values in zip(*(d.split() for d in drawn)):
        assert len(set(values)) >= len(values) - 1, values  # RANDOM has 15 bits
    assert len(set(drawn)) == len(drawn)


def test_things_that_a_fork_of_a_shell_cannot_carry_are_named_or_refused(service):
    session = create(service, "bash")
    output(service, session, "sleep 1000 & coproc cat; exec 6< <(sleep 1001); mkfifo p; exec 7<>p; (sleep 1002 &)")
    refused = service.post(f"/v1/sessions/{session}/fork", {"strict": True})
    assert refused.status == 409 and "a pipe (descriptor 6)" in refused.error["message"], refused
    made = fork(service, session)
    text = "; ".join(made["not_carried"])
    assert text.count("(sleep)") == 3 and "(cat)" in text and "the file /sandbox/p (descriptor 7)" in text, text
    copy = made["sessions"][0]["id"]
    look = "jobs; wait; read -u 6 || echo end; cat /proc/[0-9]*/comm | grep sleep || echo none"
    assert output(service, copy, look) == "end\nnone\n"
    ask = "jobs -r | wc -l; echo hello >&${COPROC[1]}; read -u ${COPROC[0]}; echo $REPLY"
    assert output(service, session, ask) == "2\nhello\n"


def test_a_fork_leaves_no_trace_in_the_shell(service):
    """Traps and traces of the shell see no command of ours, in the original and in the copy."""
    plain, forked = create(service, "bash"), create(service, "bash")
    for session in (plain, forked):
        output(service, session, "n=0; trap 'n=$((n+1))' DEBUG; set -v")
    copy = copies_of(service, forked)[0]
    expected = execute(service, plain, "echo $n $_")
    for session in (forked, copy):
        cell = execute(service, session, "echo $n $_")
        assert cell["stdout"] == expected["stdout"], cell


# ---- SQLite ----

SQLITE_STATE = """CREATE TABLE t(id INTEGER PRIMARY KEY, v TEXT); INSERT INTO t(v) VALUES ('a'), ('b');
CREATE TEMP TABLE big AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60000)
    SELECT i, hex(randomblob(20)) AS h FROM n;
ATTACH 'file.db' AS f; CREATE TABLE f.u(x); INSERT INTO f.u VALUES (1), (2);
ATTACH 'wal.db' AS w; PRAGMA w.journal_mode = WAL; CREATE TABLE w.z(x); INSERT INTO w.z VALUES (9);
ATTACH ':memory:' AS m; CREATE TABLE m.k(x); INSERT INTO m.k VALUES ('in memory');
PRAGMA case_sensitive_like = ON; PRAGMA foreign_keys = ON; INSERT INTO t(v) VALUES ('c');
BEGIN; INSERT INTO t(v) VALUES ('open'); INSERT INTO f.u VALUES (3); SAVEPOINT s; DELETE FROM w.z"""
SQLITE_LOOK = """SELECT (SELECT count(*) FROM t), (SELECT count(*) FROM big), (SELECT sum(x) FROM f.u),
    (SELECT count(*) FROM w.z), (SELECT x FROM m.k), 'A' LIKE 'a', (SELECT foreign_keys FROM pragma_foreign_keys),
    last_insert_rowid(), total_changes()"""


def test_a_fork_of_sqlite_has_everything_and_shares_nothing(service):
    original = create(service, "sqlite", limits={"memory": "300m"})
    rows(service, original, SQLITE_STATE)
    made = fork(service, original, count=2)
    assert made["not_carried"] == []
    copies = [s["id"] for s in made["sessions"]]
    expected = [[4, 60000, 6, 0, "in memory", 0, 1, 3, 10]]
    for session in (copies[0], original, copies[1]):
        assert rows(service, session, SQLITE_LOOK) == expected, session
    # The open transaction goes on in each, to another end; files and WAL can be written.
    rows(service, original, "ROLLBACK")
    rows(service, copies[0], "ROLLBACK TO s; COMMIT; INSERT INTO f.u VALUES (100); INSERT INTO w.z VALUES (10)")
    rows(service, copies[1], "COMMIT; UPDATE big SET h = 'x'; DROP TABLE t; INSERT INTO f.u VALUES (7)")
    seen = "SELECT (SELECT sum(x) FROM f.u), (SELECT total(x) FROM w.z)"
    assert [rows(service, s, seen) for s in (original, *copies)] == [[[3, 9]], [[106, 19]], [[13, 0]]]
    # SQLite knows the files again when they are opened once more.
    again = copies_of(service, copies[0])[0]
    rows(service, again, "DETACH w; ATTACH 'wal.db' AS w; ATTACH 'new.db' AS n")
    rows(service, again, "CREATE TABLE n.a(b); INSERT INTO n.a VALUES (1)")
    assert rows(service, again, seen) == [[106, 19]] and rows(service, again, "SELECT count(*) FROM n.a") == [[1]]
    check = "INSERT INTO f.u VALUES (1); INSERT INTO w.z VALUES (1); PRAGMA f.integrity_check"
    assert rows(service, again, check) == [["ok"]]


def test_random_numbers_of_forks_of_sqlite_differ(service):
    session = create(service, "sqlite")
    draw = "SELECT random(), hex(randomblob(8))"
    rows(service, session, draw)
    drawn = [rows(service, s, draw)[0] for s in (session, *copies_of(service, session, count=4))]
    for values in zip(*drawn):
        assert len(set(values)) == len(values), values


# ---- PostgreSQL ----

POSTGRES_STATE = ["CREATE TABLE t(id serial PRIMARY KEY, v text)",
                  "INSERT INTO t(v) SELECT repeat('x', 100) FROM generate_series(1, 5000)",
                  "CREATE SCHEMA s; CREATE TABLE s.u(x int); INSERT INTO s.u VALUES (7); SET search_path = s, public",
                  "PREPARE q AS SELECT x + 3 FROM u; SET work_mem = '7MB'; SET app.name = 'it''s'",
                  "SET DateStyle = 'SQL, DMY'; SELECT set_config('my.other', 'y', false)",
                  "CREATE ROLE guest; GRANT ALL ON ALL TABLES IN SCHEMA s, public TO guest; "
                  "GRANT USAGE ON SCHEMA s TO guest; GRANT USAGE ON SEQUENCE t_id_seq TO guest; SET ROLE guest",
                  "INSERT INTO public.t(v) VALUES ('last')"]
POSTGRES_LOOK = ("SELECT count(*), max(id), (SELECT x FROM u), current_setting('work_mem'), "
                 "current_setting('app.name'), current_setting('my.other'), current_user::text, session_user::text, "
                 "'2024-02-01'::date::text FROM t")


def test_a_fork_of_postgres_has_everything_and_shares_nothing(service):
    original = create(service, "postgres")
    for code in POSTGRES_STATE:
        rows(service, original, code)
    made = fork(service, original, count=2)
    assert made["not_carried"] == []
    copies = [s["id"] for s in made["sessions"]]
    expected = rows(service, original, POSTGRES_LOOK)
    assert expected[0][:6] == [5001, 5001, 7, "7MB", "it's", "y"] and expected[0][6] == "guest"
    for session in copies:
        assert rows(service, session, POSTGRES_LOOK) == expected
        assert rows(service, session, "EXECUTE q") == [[10]]
    rows(service, copies[0], "DELETE FROM public.t; RESET ROLE; CREATE TABLE only_here(x int)")
    for session in (original, copies[1]):
        assert rows(service, session, "SELECT count(*), to_regclass('s.only_here') FROM t") == [[5001, None]]
    assert rows(service, original, "INSERT INTO public.t(v) VALUES ('x') RETURNING id") == [[5002]]
    assert service.delete(f"/v1/sessions/{original}").status == 200
    again = copies_of(service, copies[0])[0]
    assert rows(service, again, "SELECT count(*) FROM only_here") == [[0]]
    draw = "SELECT random(), gen_random_uuid()::text"
    drawn = [rows(service, s, draw)[0] for s in (*copies, again)]
    for values in zip(*drawn):
        assert len(set(values)) == len(values), values


def test_things_that_a_fork_of_postgres_cannot_carry_are_named_or_refused(service):
    session = create(service, "postgres")
    rows(service, session, "CREATE TABLE t(x int); CREATE TEMP TABLE lost(x int); CREATE TEMP VIEW seen AS SELECT 1")
    rows(service, session, "CREATE UNLOGGED TABLE fast(x int); CREATE UNLOGGED TABLE none(x int); "
                           "INSERT INTO fast VALUES (1)")
    rows(service, session, "BEGIN; DECLARE c CURSOR WITH HOLD FOR SELECT 1; COMMIT; SELECT pg_advisory_lock(5)")
    made = fork(service, session)
    assert sorted(made["not_carried"]) == ["an advisory lock", "the cursor c", "the rows of the unlogged table fast",
                                           "the temporary table lost",
                                           "the temporary view seen"]
    copy = made["sessions"][0]["id"]
    assert rows(service, copy, "SELECT count(*) FROM pg_class WHERE relpersistence = 't' AND relkind <> 'i'") == [[0]]
    rows(service, copy, "CREATE TEMP TABLE lost(y int)")
    rows(service, session, "BEGIN")
    named = fork(service, session)["not_carried"]
    assert "the open transaction" in named, named
    # The transaction of the original has not begun to read.
    rows(service, session, "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE; INSERT INTO t VALUES (1)")
    refused = service.post(f"/v1/sessions/{session}/fork", {"strict": True})
    assert refused.status == 409 and "the open transaction" in refused.error["message"], refused
    copy = copies_of(service, session)[0]
    assert rows(service, copy, "SELECT count(*) FROM t") == [[0]]
    assert rows(service, session, "COMMIT; SELECT count(*) FROM t") == [[1]]


def test_a_server_that_the_guest_damages_has_no_copy_and_harms_nobody(service):
    """A database superuser may do anything to its server: files of the data directory, processes."""
    neighbour = create(service, "postgres")
    rows(service, neighbour, "CREATE TABLE kept(x int)")
    for damage in ("rm -r /tmp/.postgres/global", "echo x >/tmp/.postgres/postgresql.conf", "kill -9 $PPID"):
        session = create(service, "postgres")
        before = open_sessions(service)
        execute(service, session, f"COPY (SELECT 1) TO PROGRAM '{damage}'")
        reply = service.post(f"/v1/sessions/{session}/fork", {"count": 2})
        assert reply.status in (409, 503) and reply.error["message"], (damage, reply)
        assert open_sessions(service) == before
        service.delete(f"/v1/sessions/{session}")
    assert rows(service, copies_of(service, neighbour)[0], "SELECT count(*) FROM kept") == [[0]]
