"""Templates: states that runs and sessions begin in. POST /v1/templates, and `template` in requests."""
import concurrent.futures
import json
import os
import signal
import sqlite3

import pytest
from changed_image import make_foreign
from harness import eventually
from hostview import descendants
from service import Service

pytestmark = pytest.mark.release_only  # IPython starts cold there: every session would take seconds

SETUP = """import os, random
table = {i: i * i for i in range(50000)}
big = bytearray(30 << 20); big[7 << 20] = 7
_ = open('data.txt', 'w').write('of the template')
def double(x):
    return 2 * x"""


@pytest.fixture(scope="module")
def service():
    with Service("--set", "runs.max=8", "--set", "pools.preload=python-session", "--set", "sessions.max=8") as s:
        yield s


@pytest.fixture(scope="module")
def template(service):
    reply = service.post("/v1/templates", {"name": "squares", "language": "python", "setup": SETUP,
                                           "files": {"given.txt": "given"}})
    assert reply.status == 201, reply
    return reply.json


def run(service, code, **fields):
    reply = service.post("/v1/runs", {"template": "squares", "code": code, **fields})
    assert reply.status == 200, reply
    return reply.json


def test_a_template_is_made_listed_and_keeps_no_session(service, template):
    assert template["language"] == "python" and template["bytes"] > 30 << 20 and template["shared"] is False
    assert service.get("/v1/templates").json["templates"] == [template]
    assert service.get("/v1/templates/squares").json == template
    eventually(lambda: service.get("/v1/sessions").json["sessions"] == [])


def test_a_run_begins_in_the_state_of_its_template(service, template):
    result = run(service, "print(table[200], big[7 << 20], double(21))\n"
                          "print(open('data.txt').read(), open('given.txt').read())")
    assert (result["verdict"], result["stdout"]) == ("ok", "40000 7 42\nof the template given\n"), result
    assert result["template"] == "squares" and result["exit_code"] == 0 and result["stderr"] == ""


def test_runs_of_a_template_share_nothing(service, template):
    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        code = "print(len(table), random.random(), os.urandom(4).hex(), __import__('uuid').uuid4()); table.clear()"
        found = [r["stdout"].split() for r in pool.map(lambda _: run(service, code), range(12))]
    assert {f[0] for f in found} == {"50000"}
    for column in (1, 2, 3):
        assert len({f[column] for f in found}) == len(found), found


def test_a_failure_is_told_as_in_any_run(service, template):
    result = run(service, "print('before')\nx = table['missing']")
    assert result["verdict"] == "runtime_error" and result["exit_code"] == 1 and result["stdout"] == "before\n"
    assert "KeyError: 'missing'" in result["stderr"]
    diagnosis = result["diagnosis"]
    assert diagnosis["type"] == "KeyError" and diagnosis["location"]["line"] == 2, diagnosis


@pytest.mark.parametrize("code, exit_code, stderr", [
    ("import sys; sys.exit(3)", 3, ""), ("exit()", 0, ""), ("raise SystemExit('bye')", 1, "bye\n"),
    ("os._exit(5)", 5, ""), ("os._exit(0)", 0, ""), ("raise SystemExit(0)", 0, "")])
def test_a_run_of_a_template_ends_as_a_program_does(service, template, code, exit_code, stderr):
    result = run(service, code)
    assert (result["exit_code"], result["stderr"]) == (exit_code, stderr), result
    assert result["verdict"] == ("ok" if exit_code == 0 else "runtime_error")


def test_a_session_begins_in_a_template(service, template):
    reply = service.post("/v1/sessions", {"language": "python", "template": "squares"})
    assert reply.status == 201, reply
    cell = service.post(f"/v1/sessions/{reply.json['id']}/exec", {"code": "double(table[3])"}).json
    assert cell["result"]["text/plain"] == "18", cell
    service.delete(f"/v1/sessions/{reply.json['id']}")
    for fields, words in (({"template": "nothing"}, "there is no template"),
                          ({"language": "bash"}, "is of the language 'python'")):
        refused = service.post("/v1/sessions", {"language": "python", "template": "squares", **fields})
        assert refused.status in (400, 404) and words in refused.error["message"], refused


@pytest.mark.parametrize("language, setup, look, seen", [
    ("python", "import os; x = 1; _ = open('old', 'w').write('of the template')",
     "print(x, open('old').read(), open('sub/new').read(), os.environ['MINE'], os.access('tool', os.X_OK))",
     "1 of the template fresh it's true True\n"),
    ("javascript", "const fs = require('fs'); x = 1; fs.writeFileSync('old', 'of the template')",
     "console.log(x, fs.readFileSync('old') + '', fs.readFileSync('sub/new') + '', process.env.MINE)",
     "1 of the template fresh it's true\n"),
    ("bash", "x=1; echo -n 'of the template' > old", "echo $x $(cat old) $(cat sub/new) $MINE; test -x tool && echo x",
     "1 of the template fresh it's true\nx\n")])
def test_a_session_from_a_template_has_files_and_environment(service, language, setup, look, seen):
    assert service.post("/v1/templates", {"name": "given", "language": language, "setup": setup}).status == 201
    reply = service.post("/v1/sessions", {
        "language": language, "template": "given", "env": {"MINE": "it's true"},
        "files": {"sub/new": "fresh", "tool": {"content": "#!/bin/sh\n", "executable": True}}})
    assert reply.status == 201 and reply.json["state"] == "idle" and reply.json["cells"] == 0, reply
    session = f"/v1/sessions/{reply.json['id']}"
    assert service.get(f"{session}/files/sub/new").body == b"fresh"  # before the first cell
    assert service.post(f"{session}/exec", {"code": look}).json["stdout"] == seen
    service.delete(session)
    assert service.delete("/v1/templates/given").status == 200


def test_limits_hold_in_a_run_of_a_template(service, template):
    late = run(service, "print('begun', flush=True)\nwhile True: pass", limits={"wall_ms": 700})
    assert (late["verdict"], late["stdout"]) == ("timeout", "begun\n"), late
    loud = run(service, "while True: print('x' * 1000)", limits={"output": 100000})
    assert loud["verdict"] == "output_limit" and len(loud["stdout"]) <= 100000
    long = run(service, "raise ValueError('x' * 1000000)", limits={"output": 100000})
    assert long["verdict"] == "output_limit" and len(long["stderr"]) <= 100000, long["verdict"]
    greedy = run(service, "x = bytearray(600 << 20)", limits={"memory": "256m"})
    assert greedy["verdict"] in ("memory_limit", "runtime_error") and "memory" in str(greedy["diagnosis"]).lower()


def test_stdin_answers_input(service, template):
    result = run(service, "print(input() + '/' + input())", stdin="first\nsecond\n")
    assert result["stdout"] == "first/second\n", result
    # Bytes that are no text are read as in a run without a template.
    fields = {"code": "import sys\nprint(ascii(input()), ascii(sys.stdin.read()))", "stdin": "Yf8KYv4=",
              "stdin_encoding": "base64"}
    assert run(service, **fields)["stdout"] == service.run(language="python", **fields)["stdout"] == \
        "'a\\udcff' 'b\\udcfe'\n"


def test_a_cancelled_run_ends_and_leaves_no_process(service, template):
    reply = service.post("/v1/runs", {"template": "squares", "code": "while True: pass", "wait": False})
    assert reply.status == 202, reply
    name = reply.json["id"]
    eventually(lambda: service.get(f"/v1/runs/{name}").json.get("state") == "running")
    service.delete(f"/v1/runs/{name}")
    eventually(lambda: service.get(f"/v1/runs/{name}").json.get("verdict") == "cancelled")


def test_a_batch_begins_in_a_template(service, template):
    runs = [{"template": "squares", "code": f"print(table[{i}])"} for i in range(10)]
    reply = service.post("/v1/batches", {"runs": runs})
    assert reply.status == 200, reply
    assert [r["stdout"] for r in reply.json["results"]] == [f"{i * i}\n" for i in range(10)], reply


@pytest.mark.parametrize("fields, field, words", [
    ({"template": "nothing"}, "template", "there is no template 'nothing': yours are squares"),
    ({"outputs": ["a"]}, "outputs", "'outputs' and 'template' do not go together"),
    ({"language": "bash"}, "language", "template 'squares' is of the language 'python'"),
    ({"limits": {"open_files": 64}}, "limits.open_files", "open_files is 64: a session needs at least 384"),
])
def test_requests_that_do_not_fit_a_template_are_refused(service, template, fields, field, words):
    reply = service.post("/v1/runs", {"template": "squares", "code": "1", **fields})
    assert reply.status in (400, 404) and words in reply.error["message"] and reply.error["field"] == field, reply


@pytest.mark.parametrize("fields, status, words", [
    ({"name": "squares"}, 409, "there is a template 'squares' already"),
    ({"name": "a/b"}, 400, "has other characters"),
    ({"setup": "1/0"}, 409, "ended with 'runtime_error'"),
    ({"language": "ruby"}, 400, "'ruby' has no"),
    ({"limits": {"open_files": 64}}, 400, "open_files is 64: a session needs at least 384"),
    ({"setup": "import threading, time; threading.Thread(target=time.sleep, args=(60,)).start()"}, 409,
     "'strict' is true, and the image would lose the thread"),
])
def test_templates_that_cannot_be_made_are_refused(service, template, fields, status, words):
    reply = service.post("/v1/templates", {"name": "other", "language": "python", "setup": "1", **fields})
    assert reply.status == status and words in reply.error["message"], reply
    eventually(lambda: service.get("/v1/sessions").json["sessions"] == [])


def test_a_program_at_the_terminal_begins_in_a_template(service, template, tmp_path):
    program = tmp_path / "program.py"
    program.write_text("print(double(int(input())))\nraise SystemExit(4)\n")
    done = service.cli("run", "--template", "squares", str(program), stdin=b"21\n")
    assert (done.status, done.out) == (4, b"42\n"), done
    alone = service.cli("run", "--local", "--template", "squares", str(program))
    assert alone.status == 125 and b"template 'squares' belongs to a service" in alone.err, alone
    other = service.cli("run", "--template", "squares", str(program), b"\xff")
    assert other.status == 64 and b"must be UTF-8 text" in other.err, other


def test_templates_and_sessions_at_the_terminal(service, template, tmp_path):
    setup = tmp_path / "setup.py"
    setup.write_text("answer = 42\n")
    made = service.cli("template", "create", "small", str(setup))
    assert made.status == 0 and b"template 'small' is ready" in made.err, made
    listed = service.cli("template", "ls").out.decode()
    assert [line.split()[0] for line in listed.splitlines()] == ["squares", "small"], listed
    again = service.cli("template", "create", "small", str(setup))
    assert again.status == 125 and b"there is a template 'small' already" in again.err, again
    session = service.post("/v1/sessions", {"language": "python", "template": "small", "name": "mine"}).json["id"]
    copies = service.cli("session", "fork", session, "--count", "2").out.decode().split("\n")[:-1]
    assert len(copies) == 2 and all(" idle " in c for c in copies), copies
    assert service.cli("session", "sleep", session).status == 0
    rows = {line.split()[0]: line.split()[2] for line in service.cli("session", "ls").out.decode().splitlines()}
    assert rows[session] == "sleeping" and len(rows) == 3, rows
    assert service.cli("session", "wake", session).status == 0
    cell = service.post(f"/v1/sessions/{session}/exec", {"code": "answer"}).json
    assert cell["result"]["text/plain"] == "42", cell
    for name in rows:
        assert service.cli("session", "rm", name).status == 0
    assert service.cli("template", "rm", "small").status == 0
    gone = service.cli("template", "rm", "small")
    assert gone.status == 125 and b"there is no template 'small'" in gone.err, gone
    missing = service.cli("session", "wake", "ses_none")
    assert missing.status == 125 and b"ses_none" in missing.err, missing


INPUTS = {"args": ["one", "it's \"2\" \\ €"], "env": {"MINE": "a 'b' $HOME"}, "stdin": "first\nsecond ü\n",
          "files": {"new/data.txt": "of the run", "given.txt": "other",
                    "tool.sh": {"content": "#!/bin/sh\necho of the tool", "executable": True}}}
SEEN = ["one|it's \"2\" \\ €", "a 'b' $HOME", "of the run other", "kept", "first", "second ü", "of the tool"]
PROGRAMS = {
    "python": ("kept = 'kept'; saved = print", """import subprocess, sys, os
saved('|'.join(sys.argv[1:])); print(os.environ['MINE'])
print(open('new/data.txt').read(), open('given.txt').read()); print(kept)
print(input()); print(sys.stdin.read().rstrip()); subprocess.run(['./tool.sh'])"""),
    "javascript": ("const kept = 'kept', fs = require('fs')", """console.log(process.argv.slice(2).join('|'))
console.log(process.env.MINE)
console.log(fs.readFileSync('new/data.txt', 'utf8'), fs.readFileSync('given.txt', 'utf8')); console.log(kept)
process.stdout.write(fs.readFileSync(0, 'utf8'))
process.stdout.write(require('child_process').execFileSync('./tool.sh'))"""),
    "bash": ("kept=kept", """IFS='|'; echo "$*"; echo "$MINE"; IFS=' '
echo "$(cat new/data.txt) $(cat given.txt)"; echo $kept
read -r a; echo "$a"; cat; ./tool.sh"""),
}
PROGRAMS["typescript"] = ("const kept: string = 'kept'; const fs = require('fs')", PROGRAMS["javascript"][1])


@pytest.mark.parametrize("language", sorted(PROGRAMS))
def test_a_run_of_a_template_has_files_arguments_environment_and_stdin(service, language):
    setup, program = PROGRAMS[language]
    made = service.post("/v1/templates", {"name": f"inputs-{language}", "language": language, "setup": setup,
                                          "files": {"given.txt": "given"}})
    assert made.status == 201, made
    for _ in range(2):  # the second one begins as the first
        result = service.run(program, language=language, template=f"inputs-{language}", **INPUTS)
        assert (result["verdict"], result["stdout"].splitlines()) == ("ok", SEEN), result
    if language == "bash":
        failed = service.run("echo said; (exit 3)", language="bash", template="inputs-bash")
        assert (failed["exit_code"], failed["stdout"], failed["stderr"]) == (3, "said\n", ""), failed
    bare = service.run(program.split("\n")[0], language=language, template=f"inputs-{language}")
    assert "one" not in bare["stdout"], bare
    assert service.delete(f"/v1/templates/inputs-{language}").status == 200


@pytest.mark.parametrize("language", ["sqlite", "postgres"])
def test_a_run_of_a_template_of_a_database_has_files(service, language):
    made = service.post("/v1/templates", {"name": "base", "language": language,
                                          "setup": "create table t (n int); insert into t values (20), (22)"})
    assert made.status == 201, made
    reading = {"sqlite": "select sum(n) from t", "postgres": "select pg_read_file('/sandbox/a.txt') || sum(n) from t"}
    result = service.run(reading[language], language=language, template="base", files={"a.txt": "of the run "})
    assert result["verdict"] == "ok" and "42" in result["stdout"], result
    assert language == "sqlite" or "of the run 42" in result["stdout"], result
    refused = service.post("/v1/runs", {"template": "base", "language": language, "code": "select 1", "args": ["1"]})
    assert refused.status == 400 and "values of parameters" in refused.error["message"], refused
    assert service.delete("/v1/templates/base").status == 200


def test_a_template_outlives_the_service():
    with Service("--set", "pools.preload=python-session") as s:
        assert s.post("/v1/templates", {"name": "kept", "language": "python", "setup": "x = 41"}).status == 201
        s.restart()
        result = s.post("/v1/runs", {"template": "kept", "code": "print(x + 1)"}).json
        assert result["stdout"] == "42\n", result
        assert s.delete("/v1/templates/kept").status == 200
        assert s.get("/v1/templates").json["templates"] == []
        eventually(lambda: not list((s.state / "data/images").iterdir()))
        assert s.post("/v1/runs", {"template": "kept", "code": "1"}).status == 404


OPTIONS = ("--set", "pools.preload=python-session", "--set", "runs.max=8", "--set", "sessions.max=8")


def rebuilt(s, name):
    return s.get(f"/v1/templates/{name}").json["rebuilt_at"]


def test_a_template_that_does_not_fit_is_made_anew_when_it_is_used():
    """One rebuild for all that ask; the answer of each is that of the new template."""
    with Service(*OPTIONS) as s:
        assert s.post("/v1/templates", {"name": "kept", "language": "python", "setup": "x = 41",
                                        "files": {"given.txt": "given"}, "shared": True}).status == 201
        before = s.get("/v1/templates/kept").json
        assert before["rebuilt_at"] is None
        s.stop()
        make_foreign(s, "template")
        s.start()
        ask = lambda i: (s.post("/v1/runs", {"template": "kept", "code": "print(x + 1, open('given.txt').read())"})
                         if i % 2 else s.post("/v1/sessions", {"language": "python", "template": "kept"}))
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            replies = list(pool.map(ask, range(4)))
        for i, reply in enumerate(replies):
            assert reply.status in (200, 201), reply
            assert not i % 2 or reply.json["stdout"] == "42 given\n", reply
        cell = s.post(f"/v1/sessions/{replies[0].json['id']}/exec", {"code": "x"}).json
        assert cell["result"]["text/plain"] == "41", cell
        after = s.get("/v1/templates/kept").json
        assert after["rebuilt_at"] and {**after, "rebuilt_at": None, "bytes": 0} == {**before, "bytes": 0}
        assert s.get("/v1/templates").json["templates"] == [after]
        setups = s.get("/v1/runs", {"q": "x = 41"}).json["runs"]
        assert len(setups) == 2, setups  # it ran once more
        eventually(lambda: len(list((s.state / "data/images").iterdir())) == 1)


def test_templates_that_do_not_fit_are_made_anew_after_the_start():
    with Service(*OPTIONS) as s:
        for name in ("one", "two"):
            assert s.post("/v1/templates", {"name": name, "language": "python", "setup": "x = 1"}).status == 201
        s.restart()  # they fit: nothing happens
        assert s.logged("templates.checked", "count=2")
        assert rebuilt(s, "one") is None and rebuilt(s, "two") is None
        s.stop()
        make_foreign(s, "template")
        s.start()
        assert eventually(lambda: rebuilt(s, "one") and rebuilt(s, "two"), 60)
        eventually(lambda: s.get("/v1/sessions").json["sessions"] == [])
        assert s.run("print(x)", template="one")["stdout"] == "1\n"


def test_a_template_whose_setup_fails_now_says_why_and_is_not_tried_again_and_again():
    with Service(*OPTIONS) as s:
        key = s.add_key("ann")
        other = s.add_key("bob")
        setup = "import glob\nassert not glob.glob('/sandbox/again'), 'the data is gone'\nx = 1"
        assert s.post("/v1/templates", {"name": "kept", "language": "python", "setup": setup, "shared": True},
                      key=key).status == 201
        s.stop()
        make_foreign(s, "template")
        spoil_setup(s)
        s.start()
        first = s.post("/v1/runs", {"template": "kept", "code": "print(x)"}, key=other).json
        assert first["verdict"] != "ok", first
        assert "could not be made anew: the setup ended with 'runtime_error'" in first["error"], first
        assert "(AssertionError: the data is gone): GET /v1/runs/run_" in first["error"], first
        assert "it does not fit: it was written" in first["error"], first
        again = s.post("/v1/runs", {"template": "kept", "code": "print(x)"}, key=other).json
        assert again["error"] == first["error"], again
        refused = s.post("/v1/sessions", {"language": "python", "template": "kept"}, key=other)
        assert refused.status in (409, 503), refused
        # The setup ran as the owner, and the old template is still there.
        assert s.get("/v1/templates/kept", key=key).json["rebuilt_at"] is None
        setups = [r for r in s.get("/v1/runs", {"q": "the data is gone"}, key=key).json["runs"]]
        assert len(setups) == 2, setups


SLOW = "import os, time\nwhile os.path.exists('/sandbox/slow'): time.sleep(0.02)\nx = 1"


def test_templates_are_made_anew_side_by_side_and_a_run_does_not_wait_for_ever():
    with Service(*OPTIONS, "--set", "templates.wait=2s") as s:
        for name in ("slow", "quick"):
            assert s.post("/v1/templates", {"name": name, "language": "python", "setup": SLOW,
                                            "cell_limits": {"wall_ms": 60000}}).status == 201
        s.stop()
        make_foreign(s, "template")
        spoil_setup(s, "slow", {"slow": ""})
        s.start()
        late = s.post("/v1/runs", {"template": "slow", "code": "print(x)"}).json
        assert late["verdict"] != "ok" and "templates.wait" in late["error"] and "made anew" in late["error"], late
        # The other one is made meanwhile, though the first has not ended.
        assert eventually(lambda: s.run("print(x)", template="quick")["stdout"] == "1\n", 60)
        assert rebuilt(s, "slow") is None
        [setup] = s.get("/v1/sessions", {"state": "busy"}).json["sessions"]
        assert s.delete(f"/v1/sessions/{setup['id']}/files/slow").status == 204
        assert eventually(lambda: rebuilt(s, "slow"), 60)
        assert s.run("print(x)", template="slow")["stdout"] == "1\n"


def test_a_template_of_a_key_that_is_gone_is_not_made_anew():
    with Service(*OPTIONS) as s:
        key, other = s.add_key("ann"), s.add_key("bob")
        assert s.post("/v1/templates", {"name": "kept", "language": "python", "setup": "x = 1", "shared": True},
                      key=key).status == 201
        s.stop()
        make_foreign(s, "template")
        assert s.cli("keys", "remove", "ann").status == 0
        s.start()
        refused = s.post("/v1/runs", {"template": "kept", "code": "print(x)"}, key=other).json
        assert "key 'ann', which was deleted" in refused["error"], refused


def test_a_template_of_another_key_is_never_taken_by_mistake():
    with Service(*OPTIONS) as s:
        ann, bob, eve = s.add_key("ann"), s.add_key("bob"), s.add_key("eve")

        def make(key, text, shared):
            reply = s.post("/v1/templates", {"name": "t", "language": "bash", "setup": f"x={text}", "shared": shared},
                           key=key)
            assert reply.status == 201 and reply.json["shared"] is shared, reply

        def ran(key, name="t"):
            return s.post("/v1/runs", {"template": name, "code": "echo $x"}, key=key)

        make(ann, "ann", True)
        assert (ran(bob).json["stdout"], ran(bob).json["template_key"]) == ("ann\n", "ann")
        make(eve, "eve", True)
        refused = ran(bob)
        assert refused.status == 409 and "2 keys share a template 't'" in refused.error["message"], refused
        assert s.post("/v1/sessions", {"language": "bash", "template": "t"}, key=bob).status == 409
        assert ran(bob, "ann/t").json["stdout"] == "ann\n" and ran(bob, "eve/t").json["template_key"] == "eve"
        assert (ran(ann).json["stdout"], ran(eve).json["stdout"]) == ("ann\n", "eve\n")
        make(bob, "bob", False)
        assert (ran(bob).json["stdout"], ran(bob).json["template_key"]) == ("bob\n", "bob")
        assert ran(ann, "bob/t").status == 404


def spoil_setup(service, name=None, files=None):
    """The request of the template now makes the file that its setup does not like."""
    db = sqlite3.connect(service.data / "belljar.db")
    for image, text in db.execute("SELECT image, request FROM template_requests").fetchall():
        request = {**json.loads(text), "files": files or {"again": ""}}
        if name in (None, request["name"]):
            db.execute("UPDATE template_requests SET request = ? WHERE image = ?", (json.dumps(request), image))
    db.commit()
    db.close()


# ---- spares: a program that became the image before a run asked for it ----

def spares(service):
    """How many wait, and how many runs took one."""
    text = service.get("/metrics").body.decode()
    found = dict(line.split() for line in text.splitlines() if line.startswith("belljar_template_spares"))
    return int(found["belljar_template_spares"]), int(found["belljar_template_spares_taken_total"])


def await_spare(service):
    assert eventually(lambda: spares(service)[0] > 0), spares(service)


def test_the_next_run_of_a_template_has_a_program_that_waits(service, template):
    code = "print(len(table), os.getpid(), 'mine' in globals(), os.path.exists('mine')); mine = open('mine', 'w')"

    def takes_one():
        taken = spares(service)[1]
        assert run(service, code)["stdout"] == "50000 2 False False\n"
        return spares(service)[1] > taken
    for _ in range(3):  # the one that waits may be for a run with other limits, or is not ready
        assert eventually(takes_one), spares(service)


def test_a_run_with_other_limits_does_not_get_the_program_that_waits(service, template):
    run(service, "1")
    await_spare(service)
    taken = spares(service)[1]
    result = run(service, "x = bytearray(600 << 20); print(len(x) >> 20)", limits={"memory": "1g"})
    assert result["stdout"] == "600\n" and spares(service)[1] == taken
    result = run(service, "import time; time.sleep(60)", limits={"wall_ms": 500})
    assert result["verdict"] == "timeout" and 500 <= result["usage"]["wall_ms"] < 5000, result


def test_a_program_that_waits_dies_and_the_next_run_does_not_notice(service, template):
    run(service, "1")
    await_spare(service)
    programs = [p.pid for p in descendants(service.pid) if p.comm == "python3"]
    for pid in programs:
        os.kill(pid, signal.SIGKILL)
    assert eventually(lambda: not any(os.path.exists(f"/proc/{pid}") for pid in programs))
    assert run(service, "print(len(table))")["stdout"] == "50000\n"


def test_a_service_stops_at_once_while_a_program_waits():
    with Service("--set", "pools.preload=python-session") as s:
        assert s.post("/v1/templates", {"name": "squares", "language": "python", "setup": SETUP}).status == 201
        run(s, "1")
        await_spare(s)
        processes = [p for p in descendants(s.pid) if p.comm == "python3"]
        assert processes
        s.stop()
        assert not [p for p in processes if os.path.exists(f"/proc/{p.pid}")]
