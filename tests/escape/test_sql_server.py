"""A database server in a jar has a superuser who may run programs and read files: all of it stays inside (R4).

The superuser is the guest. COPY reaches the same files as any program of the jar. When the start is warm, the server
was there before the guest, and it has no right that the guest does not have.
"""

import harness
from sql import ask, rows

PROBE = r"""
CREATE TABLE seen(line text);
COPY seen FROM PROGRAM $$
  for f in /etc/shadow /root/.profile /home /var/lib/postgresql; do
    [ -e "$f" ] && ls -A "$f" 2>/dev/null | sed "s|^|sees $f: |"; done;
  for f in /usr/bin/x /opt/belljar/postgres/x /etc/x; do ( : >"$f" ) 2>/dev/null && echo "wrote $f"; done;
  grep -h '^\(CapEff\|CapBnd\|NoNewPrivs\|Seccomp\):' /proc/self/status /proc/$PPID/status |
    sort -u | tr '\t' ' ' | sed 's/^/status /';
  tail -n +3 /proc/net/dev 2>/dev/null | cut -d: -f1 | tr -d ' ' | sed 's/^/net /';
  ls -1 /proc | grep -c '^[0-9]' | sed 's/^/processes /';
  id -u | sed 's/^/uid /'
$$;
SELECT line FROM seen;
"""


def test_programs_of_the_server_are_in_the_jar(sealed):
    lines = [r[0] for r in rows(ask(PROBE, "postgres"))]
    # /home/user is a link to /sandbox.
    assert [x for x in lines if x.startswith(("sees", "wrote"))] == ["sees /home: user"], lines
    assert {x for x in lines if x.startswith("net ")} <= {"net lo"}, lines
    status = {" ".join(x.split()[1:]) for x in lines if x.startswith("status")}
    assert {"CapEff: 0000000000000000", "CapBnd: 0000000000000000", "NoNewPrivs: 1",
            "Seccomp: 2"} == status, "the server's, too"
    assert "uid 1000" in lines and int(next(x for x in lines if x.startswith("processes")).split()[1]) < 20, lines


def test_files_of_the_server_are_in_the_jar(sealed):
    for path in ("/etc/shadow", "/proc/1/environ", "/root/.bashrc"):
        result = ask(f"SELECT length(pg_read_file('{path}'))", "postgres")
        assert result.json["exit_code"] == 1 and ("42501" in result.stderr or "58P01" in result.stderr), result
    for path in ("/usr/share/x", "/opt/belljar/postgres/seed/server"):
        result = ask(f"COPY (SELECT 1) TO '{path}'", "postgres")
        assert result.json["exit_code"] == 1 and "could not open file" in result.stderr, result


def test_server_that_is_told_to_stop_ends_its_run_alone(sealed):
    result = ask("COPY (SELECT 1) TO PROGRAM 'kill -9 -1'; SELECT 1", "postgres", within=30)
    assert result.verdict in ("runtime_error", "ok") and result.json["exit_code"] != 0, result
    assert harness.run_sh("echo well").stdout == "well\n"
