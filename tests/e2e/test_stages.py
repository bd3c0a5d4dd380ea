"""`belljar run --stage` and `--stages`: several programs one after the other in one jar, by a service and without one
(R1.8, R8.2)."""

import json
import os
import shlex
import signal

import pytest

import harness
from harness import BELLJAR, Running, belljar, eventually
from hostview import descendants
from terminal import Terminal

MAIN = ('#include <stdio.h>\nint main(int n, char **v) { if (n > 1) return 2; fputs("42", fopen("out", "w")); '
        'fputs("tmp", fopen("/tmp/t", "w")); return puts("hi") < 0; }')


@pytest.fixture(autouse=True)
def _sealed(sealed):
    """Level process has no stages."""


@pytest.fixture(params=["service", "alone"])
def stages(request, service, public_path):
    """belljar run with these words, by a running service or by a private one, which leaves nothing."""
    scratch = public_path / "scratch"
    scratch.mkdir(mode=0o755)
    work = public_path / "work"
    work.mkdir()

    def run(*args, stdin=None, within=60):
        if request.param == "alone":
            result = belljar("run", *args, stdin=stdin, within=within, cwd=work,
                             environ={**os.environ, "TMPDIR": str(scratch)})
            assert not os.listdir(scratch), result
            return result
        before = service.get("/v1/runs", {"limit": 1}).json["runs"]
        result = belljar("run", "--state", service.state, *args, stdin=stdin, within=within, cwd=work)
        after = service.get("/v1/runs", {"limit": 1}).json["runs"]
        assert result.status in (64, 125) or after != before, "the service ran it"
        return result

    run.work = work
    return run


def table(result):
    """The rows of the table on stderr, by name."""
    lines = result.err.decode().splitlines()
    first = next(i for i, line in enumerate(lines) if line.split() == ["STAGE", "RESULT", "EXIT", "TIME", "MEMORY"])
    rows = {}
    for line in lines[first + 1:]:
        if line.startswith("belljar: "):
            break
        rows[line.split()[0]] = line
    return rows


def test_stages_share_files_and_each_has_its_row(stages):
    """R1.8, R8.2"""
    (stages.work / "main.c").write_text(MAIN)
    result = stages("main.c", "--out", "out", "--out", "/tmp/t", "--env", "A=b", "--memory", "512m",
                    "--stage", "build=gcc -o prog main.c && echo built >&2", "--stage", "./prog --bad",
                    "--expect-exit", "2", "--stage", "./prog",
                    "--stage", "check=test $(cat out /tmp/t) = 42tmp && test $A = b && ls")
    files = b"build.sh\ncheck.sh\nmain.c\nout\nprog\nstage2.sh\nstage3.sh\n"
    assert (result.status, result.out) == (0, b"hi\n" + files), result
    assert result.err.startswith(b"built\n") and result.err.count(b"\n") == 6, result
    rows = table(result)
    assert list(rows) == ["build", "stage2", "stage3", "check"], result
    assert [row.split()[1:3] for row in rows.values()] == [["passed", s] for s in "0200"], result
    assert all(" ms " in row and row.endswith(" MiB") for row in rows.values()), result
    assert ((stages.work / "out").read_text(), (stages.work / "t").read_text()) == ("42", "tmp")


def test_stages_of_a_file_are_those_of_a_request(stages):
    """R1.8: programs of other languages, limits, the expected status"""
    (stages.work / "list.json").write_text(json.dumps([
        {"name": "make", "command": "echo 42 > n"},
        {"name": "read", "language": "python", "code": "print(int(open('n').read()))", "limits": {"memory": "64m"}},
        {"name": "no", "command": "exit 3", "expect_exit": 3}]))
    result = stages("--stages", "list.json", "--json", "--cpu-time", "5s")
    r = result.json
    assert (result.status, result.err, r["verdict"], r["stdout"]) == (0, b"", "ok", "42\n"), result
    assert [(s["name"], s["passed"], s["exit_code"]) for s in r["stages"]] == [
        ("make", True, 0), ("read", True, 0), ("no", True, 3)], r
    assert [s["limits"]["memory"] >> 20 for s in r["stages"]] == [256, 64, 256] and r["limits"]["cpu_ms"] == 5000, r


@pytest.mark.parametrize("second, status, row, note", [
    (["--stage", "b=exit 7"], 7, ["failed", "7", "expected status 0"], None),
    (["--stage", "b=true", "--expect-exit", "1"], 1, ["failed", "0", "expected status 1"], None),
    (["--stage", "b=kill -9 $$"], 137, ["failed", "137", "ended by SIGKILL"], None),
    (["--stage", "b=sleep 60", "--stage-limit", "timeout=200ms"], 124, ["timeout", "124", ""],
     "timeout: stage 'b' took longer than its limit of 200ms; --stage-limit timeout=DUR behind it"),
    (["--stage", "b=python3 -c \"x = b'1' * (1 << 28)\"", "--stage-limit", "memory=48m"], 137,
     ["memory_limit", "137", ""],
     "memory_limit: stage 'b' needed more memory than its limit of 48m; --stage-limit memory=SIZE behind it"),
    (["--stage", "b=yes", "--stage-limit", "output=1000"], 153, ["output_limit", "153", ""],
     "output_limit: stage 'b' printed more than its limit of 1000; --stage-limit output=SIZE"),
], ids=lambda v: str(v)[11:40] if isinstance(v, list) and v[0] == "--stage" else "")
def test_stage_that_fails_names_itself_and_ends_the_run(stages, second, status, row, note):
    """R1.4, R1.8"""
    result = stages("--stage", "a=echo a", *second, "--stage", "c=echo NEVER")
    rows = table(result)
    assert result.status == status and result.out.startswith(b"a\n") and b"NEVER" not in result.out, result
    assert rows["b"].split()[1:3] == row[:2] and rows["b"].endswith(row[2]), result
    assert rows["a"].split()[1] == "passed" and rows["c"].split() == "c - - - - did not begin".split(), result
    said = [line for line in result.err.decode().splitlines() if line.startswith("belljar: ")]
    assert (len(said) == 1 and note in said[0]) if note else not said, result


def test_limit_of_a_stage_of_a_file_is_told_in_its_own_words(stages):
    (stages.work / "list.json").write_text('[{"name": "a", "command": "sleep 60", "limits": {"wall_ms": "200ms"}}]')
    result = stages("--stages", "list.json", "--timeout", "30s")
    assert result.status == 124 and b'its limit of 200ms; "limits": {"wall_ms": DUR} of the stage' in result.err, result


def test_processes_and_floods_of_a_stage_do_not_reach_the_next(stages):
    """R1.8: orphans in other sessions, and a stage that prints up to its limit"""
    leave = "(setsid sleep 1000 &); (sleep 1001 & kill -STOP $!); trap '' TERM HUP; nohup sleep 1002 >/dev/null 2>&1 &"
    result = stages("--stage", f"leave={leave}", "--stage", "look=cat /proc/[0-9]*/comm | grep -c sleep",
                    "--expect-exit", "1")
    assert (result.status, result.out) == (0, b"0\n"), result
    flood = stages("--output", "3m", "--stage", "flood=head -c 3000000 /dev/zero | tr '\\0' x",
                   "--stage", "after=echo end")
    assert flood.status == 0 and len(flood.out) == 3000004 and flood.out.endswith(b"xend\n"), flood
    over = stages("--output", "1m", "--stage", "flood=yes", "--stage", "after=echo end")
    assert over.status == 153 and len(over.out) == 1 << 20 and table(over)["after"].endswith("did not begin"), over


def test_every_stage_reads_the_whole_input(stages):
    (stages.work / "in").write_bytes(b"\xff\0text")
    assert stages("--stage", "cat", "--stage", "wc -c", stdin=b"\xfe123").out == b"\xfe1234\n"
    assert stages("--stdin", "in", "--stage", "cat", "--stage", "wc -c").out == b"\xff\0text6\n"
    large = stages("--stage", "cat", stdin=b"x" * (5 << 20))
    assert large.status == 125 and "the input of the stages has more than 4 MiB" in large.message, large
    assert b"STAGE" not in large.err, large


def test_directory_is_beside_the_stages(stages):
    """R8.4"""
    project = stages.work / "project"
    (project / "sub").mkdir(parents=True)
    (project / "sub" / "data.txt").write_text("deep")
    (project / "tool").write_text("#!/bin/sh\necho tool\n")
    (project / "tool").chmod(0o755)
    (project / "id.pem").write_text("SECRET")
    result = stages("project", "--stage", "./tool; cat sub/data.txt; ls")
    assert (result.status, result.out) == (0, b"tool\ndeepstage1.sh\nsub\ntool\n"), result
    assert b"'id.pem' is left out" in result.err, result


def test_mounts_levels_and_strict_limits_use_a_private_service(public_path):
    """R8.2: the caller is its operator, also for limits beyond the maximum of a service"""
    (public_path / "d").mkdir()
    (public_path / "d" / "f").write_text("mounted")
    (public_path / "d").chmod(0o755)
    how = {"environ": {**os.environ, "TMPDIR": str(public_path)}}
    mounted = belljar("run", "--mount", public_path / "d", "--stage", "cat /mnt/d/f", **how)
    assert (mounted.status, mounted.out) == (0, b"mounted"), mounted
    level = belljar("run", "--isolation", "rootless", "--json", "--stage", "true", **how)
    assert level.status == 125 or level.json["isolation"]["level"] == "rootless", level
    long = belljar("run", "--timeout", "6m", "--json", "--stage", "true", "--stage-limit", "files=100", **how)
    assert long.status == 64 and "--files gives it" in long.message, long
    long = belljar("run", "--timeout", "6m", "--json", "--stage", "true", "--stage-limit", "open-files=5000", **how)
    stage = long.json["stages"][0]
    assert (long.status, stage["limits"]["wall_ms"], stage["limits"]["open_files"]) == (0, 360000, 5000), long
    assert sorted(os.listdir(public_path)) == ["d"]


def test_output_of_a_stage_arrives_while_another_runs(public_path):
    """R1.5, R1.6: Ctrl-C ends all of it, and the private service"""
    argv = [BELLJAR, "run", "--timeout", "60s", "--stage", "echo first", "--stage", "echo second; sleep 1000"]
    with Running(argv, environ={**os.environ, "TMPDIR": str(public_path)}) as running:
        assert [running.read_line(), running.read_line()] == ["first", "second"]
        known = descendants(running.pid)
        harness.interrupt(running)
        result = running.finish()
    assert result.status == 130 and known, result
    assert eventually(lambda: not os.listdir(public_path))


def test_killed_command_leaves_no_service(public_path):
    argv = [BELLJAR, "run", "--stage", "echo begun; sleep 1000", "--timeout", "60s"]
    with Running(argv, environ={**os.environ, "TMPDIR": str(public_path)}) as running:
        assert running.read_line() == "begun"
        running.popen.send_signal(signal.SIGKILL)
        running.finish()
    assert eventually(lambda: not os.listdir(public_path))


def test_failed_stage_is_explained_on_a_terminal(public_path, service):
    """R6.2, R8.2: the table begins on a line of its own"""
    for second, shown in (("printf abc; exit 1", "abc"), ("cd /nonexistent", "error[no such file]: cd: /nonexistent")):
        argv = [BELLJAR, "run", "--state", str(service.state), "--stage", "one=true", "--stage", f"two={second}",
                "--stage", "three=true"]
        with Terminal(["sh", "-c", f"{shlex.join(argv)}; echo status $?; cat"], cwd=public_path, columns=120) as t:
            screen = eventually(lambda: t.screen() if "status 1" in t.screen() else "")
        assert "\nSTAGE  RESULT" in screen and "expected status 0\nthree  -" in screen, screen
        assert shown in screen and "abcSTAGE" not in screen, screen


@pytest.mark.parametrize("argv, said", [
    (["--stage", ""], "has no command: COMMAND or NAME=COMMAND is accepted"),
    (["--stage", "build= "], "--stage 'build= ' has no command"),
    (["--stage", "=make"], "--stage '=make' has no name before its '='"),
    (["--stage", "a=true", "--stage", "a=false"], "two stages have the name 'a'"),
    (["--stage", "n" * 41 + "=true"], "41 bytes; up to 40"),
    (["--stage", "true"] * 17, "17 entries; up to 16 are accepted"),
    (["--stage", b"echo \xff"], "is not UTF-8"),
    (["--expect-exit", "1", "--stage", "true"], "--expect-exit '1' is for the --stage before it"),
    (["--stage", "true", "--expect-exit", "256"], "'256' is not an exit status: a whole number from 0 to 255"),
    (["--stage", "true", "--expect-exit", "-1"], "'-1' is not an exit status"),
    (["--stage-limit", "memory=1g", "--stage", "true"], "is for the --stage before it"),
    (["--stage", "true", "--stage-limit", "speed=1"], "is not LIMIT=VALUE such as timeout=60s: timeout, cpu-time"),
    (["--stage", "true", "--stage-limit", "disk=1m"], "holds for all stages together; --disk gives it"),
    (["--stage", "true", "-c", "print(1)"], "--code and --stage cannot be used together"),
    (["--stage", "true", "--bench", "3"], "--bench and --stage cannot be used together"),
    (["--stage", "true", "--profile"], "--profile and --stage cannot be used together"),
    (["--stage", "true", "--fix"], "--fix and --stage cannot be used together"),
    (["--stage", "true", "-l", "python"], "--language and --stage cannot be used together"),
    (["--stage", "true", "--allow-command", "ls"], "--allow-command and --stage cannot be used together"),
    (["--stage", "true", "--template", "t"], "--template and --stage cannot be used together"),
    (["--stage", "true", "--isolation", "process"], "stages share one jar, which needs level jar or rootless"),
    (["--stage", "true", "--", "x"], "a stage has its own: write them into its command"),
    (["--stage", "true", "-"], "'-' is standard input"),
    (["--stage", "true", "--local", "--service", "http://127.0.0.1:1"], "contradict each other"),
    (["--steps", "make"], "there is no option '--steps': --stage COMMAND runs commands of bash"),
    (["--stages", "/nonexistent.json"], "--stages '/nonexistent.json' cannot be read"),
    (["--stages", "."], "--stages '.' cannot be read"),
    (["--stages", "bad.json"], "is no JSON: line 2"),
    (["--stages", "object.json"], "is not a list: a list such as"),
    (["--stages", "empty.json"], "has no stage: a list such as"),
    (["--stages", "word.json"], "stages[0] must be an object"),
    (["--stages", "limit.json"], "stages[0].limits.speed: there is no limit 'speed'; accepted: wall_ms"),
    (["--stages", "field.json"], "there is no field 'stages[0].colour'; accepted: name, command"),
    (["--stages", "nameless.json"], "stages[0].name is required"),
    (["--stages", "c.json"], "stages[0].language: 'c' is compiled"),
    (["--stages", "word.json", "--stage", "true"], "--stages 'word.json' and --stage contradict each other"),
], ids=lambda v: v if isinstance(v, str) else "")
def test_nonsense_about_stages_is_refused(public_path, argv, said):
    """R3.1"""
    for name, text in {"bad": "[\n{]", "object": '{"stages": []}', "empty": "[]", "word": '["x"]',
                       "limit": '[{"name": "a", "command": "echo STARTED", "limits": {"speed": 1}}]',
                       "field": '[{"name": "a", "command": "echo STARTED", "colour": 1}]',
                       "nameless": '[{"command": "echo STARTED"}]',
                       "c": '[{"name": "a", "language": "c", "code": "int x;"}]'}.items():
        (public_path / f"{name}.json").write_text(text)
    result = belljar("run", *argv, cwd=public_path)
    assert result.status == 64 and result.out == b"" and said in result.message, result
    assert result.message.count("\n") == 0 and 10 < len(result.message) <= 400, result


def test_many_runs_take_no_stages():
    for command in ("batch", "compare"):
        result = belljar(command, "--stage", "true", "x.py", "y")
        assert result.status == 64 and "there is no option '--stage'" in result.message, result
