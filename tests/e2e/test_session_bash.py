"""The session program of bash, bare: no jar, and the test at the other end of its channel."""
import json
import os
import re
import subprocess
import tempfile

import pytest

from cells import groups
from channel import COMPLETE, EXEC, Program
from harness import BELLJAR, eventually

pytestmark = pytest.mark.release_only  # the program is built without sanitizers
COMMAND = [os.path.join(os.path.dirname(BELLJAR), "guest/bash/bash")]
MARK = "\x01"


@pytest.fixture
def sh():
    with Program(COMMAND) as program:
        yield program


def words(stderr):
    """Messages without the name of the script and its line."""
    stderr = re.sub(r"\b\d+ Killed", "PID Killed", stderr)
    return [re.sub(r"^\S*(?:bash|main\.sh|/dev/fd/\d+): (?:line \d+: |eval: line \d+: )?", "", line)
            for line in stderr.splitlines()]


def of_bash(cells):
    """The outcome of each cell in one bash: every cell is a file that the shell reads."""
    with tempfile.TemporaryDirectory() as home, tempfile.TemporaryDirectory() as files:
        script = "__set() { return $1; }\n__s=0\n"
        for i, code in enumerate(cells):
            with open(f"{files}/{i}.main.sh", "w") as file:
                file.write(code)
            script += (f"if [ $__s = 0 ]; then . {files}/{i}.main.sh; else __set $__s || . {files}/{i}.main.sh; fi\n"
                       f"__s=$?; printf '{MARK}%d{MARK}' $__s; printf '{MARK}' >&2\n")
        with open(f"{files}/all.main.sh", "w") as file:
            file.write(script)
        done = subprocess.run(["/bin/bash", f"{files}/all.main.sh"], capture_output=True, text=True, cwd=home,
                              stdin=subprocess.DEVNULL, timeout=120)
    out, err = done.stdout.split(MARK), done.stderr.split(MARK)
    assert len(err) == len(cells) + 1, (len(err), len(cells), done.stderr[-300:])
    return [{"stdout": out[2 * i], "stderr": words(err[i]), "status": int(out[2 * i + 1])} for i in range(len(cells))]


@pytest.mark.parametrize("name, cells", groups("bash.cells"), ids=lambda v: v if isinstance(v, str) else "")
def test_cells_mean_the_same_as_in_bash(name, cells):
    expected = of_bash(cells)
    with Program(COMMAND) as program:
        for code, want in zip(cells, expected, strict=True):
            reply = program.run(code)
            status = int(reply.error["message"]) if reply.error else 0
            assert {"stdout": reply["stdout"], "stderr": words(reply["stderr"]), "status": status} == want, code
            assert reply["status"] == ("ok" if status == 0 else "error")
            assert not reply.error or reply.error["name"] == "exit status"


def test_the_cells_of_bash_are_many():
    assert sum(len(cells) for _, cells in groups("bash.cells")) >= 100


def test_exit_ends_the_cell_and_the_session_lives():
    with Program(COMMAND) as program:
        program.run("kept=1")
        reply = program.run("echo before; f() { while true; do exit 3; done; }; f; echo after")
        assert (reply["stdout"], reply["status"], reply.error["message"]) == ("before\n", "error", "3")
        assert program.run("exit")["status"] == "error"  # the status of the command before it, as always
        assert program.run("exit 0; echo no")["status"] == "ok"
        assert program.run("(exit 5); echo $? $kept")["stdout"] == "5 1\n"
        assert program.run("echo $(exit 4; echo no) $?")["stdout"].strip() == "4"


@pytest.mark.parametrize("code, status", [("set -e; false; echo no", "1"), ("exec sh -c 'exit 9'", "9"),
                                          ("kill -9 $$", "137")])
def test_a_shell_that_ends_is_replaced_and_the_reply_says_so(code, status):
    with Program(COMMAND) as program:
        program.run("lost=1")
        reply = program.run(code)
        assert reply["status"] == "error" and reply.error["message"] == status
        assert "a new one began" in reply.first("note")["text"]
        assert program.run("echo [$lost]")["stdout"] == "[]\n"


@pytest.mark.parametrize("code", ["echo go; sleep 1000; echo no", "echo go; while :; do :; done; echo no",
                                  "f() { while true; do sleep 1000; done; }; echo go; f; echo no",
                                  "echo go; for ((;;)); do true; done | cat; echo no",
                                  "echo go; (while :; do :; done); echo no", "echo go; sleep 1000 | sleep 1000",
                                  "echo go; read x < <(sleep 1000)"])
def test_an_interrupt_ends_the_commands_and_the_shell_stays(sh, code):
    sh.run("state=42; cd /")
    sh.begin(EXEC, ("code", code))
    sh.await_output("go")
    sh.interrupt()
    reply = sh.finish()
    assert (reply["status"], reply["stdout"], reply.error["name"]) == ("interrupted", "go\n", "KeyboardInterrupt")
    after = sh.run("echo $state $PWD; false")
    assert (after["stdout"], after["status"]) == ("42 /\n", "error")
    assert not after.first("note")


def test_background_jobs_live_through_an_interrupt(sh):
    # bash forks a job before it lets the job ignore SIGINT.
    pid = int(sh.run("sleep 1000 & until [[ $(< /proc/$!/comm) == sleep ]]; do :; done; echo $!")["stdout"])
    sh.begin(EXEC, ("code", "echo go; sleep 1000"))
    sh.await_output("go")
    sh.interrupt()
    assert sh.finish()["status"] == "interrupted"
    assert sh.run(f"kill -0 {pid}")["status"] == "ok"
    sh.run(f"kill {pid}; wait")


def test_a_background_job_does_not_hold_its_cell(sh):
    assert sh.run("sleep 1000 & job=$!; echo started")["stdout"] == "started\n"
    assert sh.run("kill $job; wait $job")["status"] == "error"


def test_an_interrupt_between_cells_is_ignored(sh):
    sh.run("calm=1")
    sh.interrupt()
    assert sh.run("sleep 0.05; echo $calm")["stdout"] == "1\n"


def test_large_cells_and_large_output(sh):
    assert sh.run("x='" + "y" * 500_000 + "'; echo ${#x}")["stdout"] == "500000\n"
    assert sh.run("seq 100000")["stdout"].count("\n") == 100000


def test_tracing_shows_nothing_of_ours(sh):
    reply = sh.run("set -x; true; set +x")
    assert "__belljar" not in reply["stderr"] and "+ true" in reply["stderr"]


def test_a_program_that_closes_our_descriptors_loses_its_shell_only(sh):
    reply = sh.run("exec 60>&- 61>&- 62>&-; echo closed")
    assert reply["status"] in ("error", "ok")
    assert sh.run("echo alive")["stdout"] == "alive\n"


def test_names_in_bash(sh):
    sh.run("my_variable=1; declare -A table=([k]=v); list=(1 2); my_function() { :; }; touch some_file")
    assert [m["text"] for m in sh.complete("echo $my_var")["matches"]] == ["my_variable"]
    assert [m["text"] for m in sh.complete("my_func")["matches"]] == ["my_function"]
    answer = sh.complete("é; my_func")
    assert (answer["from"], answer["to"]) == (3, 10)
    assert "function" in sh.inspect("my_function")["text"] and sh.inspect("no_such_thing_here")["found"] is False
    rows = sh.variables()
    assert rows["my_variable"]["preview"] == '"1"' and rows["table"]["type"] == "associative array"
    assert rows["list"]["type"] == "array" and not [name for name in rows if "belljar" in name]


def test_an_interrupt_ends_a_question(sh):
    sh.run("mkdir slow; printf '#!/bin/sh\\necho go >&2; exec sleep 1000\\n' > slow/sort; chmod +x slow/sort; "
           "state=42; before=$PATH; PATH=$PWD/slow:$PATH; hash -r")
    for _ in range(5):
        sh.begin(COMPLETE, ("code", "ech"), ("cursor", "3"))
        sh.interrupt()
        reply = sh.finish()
        assert reply["status"] == "ok" and json.loads(reply.first("answer")["json"])["matches"] == [], reply
        assert sh.run("echo $state")["stdout"] == "42\n"
    sh.run("PATH=$before; hash -r")
    assert "echo" in [m["text"] for m in sh.complete("ech")["matches"]]


def is_running(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.parametrize("code", ["true", "while :; do :; done", "trap '' INT TERM HUP; while :; do sleep 1; done"])
def test_the_shell_ends_with_its_program(code):
    with Program(COMMAND) as program:
        shell = int(program.run("echo $$")["stdout"])
        program.begin(EXEC, ("code", f"echo go; {code}"))
        program.await_output("go")
        program.process.kill()
        assert eventually(lambda: not is_running(shell))


def test_the_shell_ends_with_its_session(sh):
    shell = int(sh.run("echo $$")["stdout"])
    sh.channel.close()
    assert sh.process.wait(30) == 0
    assert eventually(lambda: not is_running(shell))


def test_a_command_whose_reader_is_gone_ends_silently(sh):
    reply = sh.run("yes | head -n 1")
    assert (reply["stdout"], reply["stderr"], reply["status"]) == ("y\n", "", "ok")
