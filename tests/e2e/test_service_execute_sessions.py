"""/execute with X-Session-ID, as the client of NeMo-Skills speaks it: plain HTTP, one JSON object (R8.1)."""

import pytest
from harness import PATIENCE, eventually
from service import Service, in_threads

FIELDS = ["process_status", "stdout", "stderr", "new_session_created"]


@pytest.fixture(scope="module")
def service():
    with Service("--set", "runs.max=8", "--set", "pools.preload=used") as s:
        yield s


def execute(service, session, code, timeout=60 * PATIENCE, language="ipython", status=200, key=None, **more):
    """The request of that client: the body has every field, the header has the session."""
    body = {"generated_code": code, "std_input": "", "timeout": timeout, "language": language,
            "max_output_characters": 1000, "traceback_verbosity": "Plain", **more}
    reply = service.post("/execute", {k: v for k, v in body.items() if v is not None}, key=key,
                         headers={"X-Session-ID": session})
    assert reply.status == status, reply
    assert list(reply.json) == (FIELDS if status == 200 else FIELDS[:3]), reply
    return reply.json


def completed(stdout, new=False):
    return {"process_status": "completed", "stdout": stdout, "stderr": "", "new_session_created": new}


def test_execute_session_keeps_variables_and_echoes_the_last_expression(service):
    assert execute(service, "keeps", "x = 20\nprint('hi')") == completed("hi\n", new=True)
    assert execute(service, "keeps", "x + 22") == completed("42\n")
    assert execute(service, "keeps", "print('a')\n'b'") == completed("a\n'b'\n")
    assert execute(service, "keeps", "x;") == completed("")
    assert execute(service, "keeps", "open('f', 'w').write('kept');") == completed("")
    assert execute(service, "keeps", "open('f').read()") == completed("'kept'\n")
    assert execute(service, "other", "'x' in dir()") == completed("False\n", new=True)


def test_execute_session_error_keeps_stdout_and_variables(service):
    execute(service, "errors", "x = 5")
    answer = execute(service, "errors", "print('before')\n1 / 0")
    assert (answer["process_status"], answer["stdout"]) == ("error", "before\n"), answer
    assert answer["stderr"].startswith("Traceback (most recent call last):"), answer
    assert answer["stderr"].endswith("ZeroDivisionError: division by zero\n"), answer
    answer = execute(service, "errors", "1 / 0", traceback_verbosity="Minimal")
    assert answer["stderr"] == "ZeroDivisionError: division by zero\n", answer
    assert execute(service, "errors", "x") == completed("5\n")


def test_execute_session_input_comes_from_std_input(service):
    code = "a = input('first? ')\nb = input()\nprint()\nprint([a, b])"
    answer = execute(service, "input", code, std_input="one\ntwo")
    assert answer["process_status"] == "completed" and answer["stdout"].endswith("['one', 'two']\n"), answer
    answer = execute(service, "input", "input()")
    assert answer["process_status"] == "error" and "EOFError" in answer["stderr"], answer
    assert execute(service, "input", "a") == completed("'one'\n")


def test_execute_session_output_is_cut(service):
    assert execute(service, "cut", "print('ü' * 5000)")["stdout"] == "ü" * 1000 + "<output cut>"
    assert execute(service, "cut", "print('x' * 5000)", max_output_characters=None)["stdout"] == \
        "x" * 1000 + "<output cut>"
    assert execute(service, "cut", "print('x' * 5000)", max_output_characters=9000) == completed("x" * 5000 + "\n")


def test_execute_session_timeout_interrupts_and_the_variables_stay(service):
    execute(service, "slow", "x = 1\nimport time")
    code = "print('so far', flush=True)\ntime.sleep(600)"
    answer = execute(service, "slow", code, timeout=2.5 * PATIENCE)
    assert answer == {"process_status": "timeout", "stdout": "so far\n", "new_session_created": False,
                      "stderr": f"Execution timed out after {2.5 * PATIENCE} seconds\n"}, answer
    assert execute(service, "slow", "x") == completed("1\n")


def test_execute_session_that_was_killed_begins_anew_and_says_so(service):
    execute(service, "stubborn", "x = 1\nimport time")
    code = """\
while True:
    try:
        time.sleep(600)
    except KeyboardInterrupt:
        pass"""
    answer = execute(service, "stubborn", code, timeout=2 * PATIENCE)
    assert answer["process_status"] == "timeout", answer
    first, *rest = answer["stderr"].splitlines()
    assert first == f"Execution timed out after {2 * PATIENCE} seconds" and "variables are lost" in rest[0], answer
    assert execute(service, "stubborn", "'x' in dir()") == completed("False\n", new=True)
    answer = execute(service, "stubborn", "import os; os._exit(3)")
    assert answer["process_status"] == "error" and "exit code 3" in answer["stderr"], answer
    assert execute(service, "stubborn", "1") == completed("1\n", new=True)


def test_execute_session_speaks_the_languages_of_its_clients(service):
    assert execute(service, "py", "x = 1; x", language="python") == completed("1\n", new=True)
    assert execute(service, "py", "x", language=None) == completed("1\n")
    assert execute(service, "sh", "y=2; echo $y", language="shell") == completed("2\n", new=True)
    assert execute(service, "sh", "echo $y", language="shell") == completed("2\n")
    assert "runs bash" in execute(service, "sh", "1", status=400)["stderr"]
    reply = service.post("/execute", {"generated_code": "echo 3", "timeout": 60, "language": "shell"})
    assert reply.json == {"process_status": "completed", "stdout": "3\n", "stderr": ""}, reply
    reply = service.post("/execute", {"generated_code": "1", "timeout": 60, "language": "ipython"})
    assert reply.status == 400 and reply.json["stderr"] == "X-Session-ID header required for ipython sessions", reply


@pytest.mark.parametrize("session, fields, word", [
    ("", {}, "X-Session-ID"), ("a b", {}, "X-Session-ID"), ("a/b", {}, "X-Session-ID"), ("a" * 201, {}, "X-Session-ID"),
    ("bad", {"language": "cobol"}, "Only python"), ("bad", {"timeout": None}, "Missing required field: timeout"),
    ("bad", {"traceback_verbosity": "loud"}, "Minimal, Plain, Context or Verbose"),
    ("bad", {"traceback_verbosity": 1}, "Minimal, Plain, Context or Verbose"), ("bad", {"std_input": 1}, "std_input"),
], ids=str)
def test_execute_session_refuses_bad_requests(service, session, fields, word):
    assert word in execute(service, session, "1", status=400, **fields)["stderr"]
    assert session not in service.get("/sessions").json["sessions"]


def test_execute_sessions_are_listed_and_deleted(service):
    execute(service, "listed", "1")
    reply = service.get("/sessions")
    assert reply.status == 200 and reply.json["backend"] == "ipython", reply
    row = reply.json["sessions"]["listed"]
    assert row["alive"] is True and 0 < row["created"] <= row["last_used"], row
    reply = service.delete("/sessions/listed")
    assert (reply.status, reply.json) == (200, {"message": "IPython session listed deleted successfully"}), reply
    reply = service.delete("/sessions/listed")
    assert (reply.status, reply.json) == (404, {"error": "IPython session listed not found"}), reply
    assert "listed" not in service.get("/sessions").json["sessions"]
    assert execute(service, "listed", "1") == completed("1\n", new=True)
    assert (service.get("/health").status, service.get("/health").json) == (200, {"status": "healthy"})


def test_execute_session_takes_requests_at_once_and_a_large_one(service):
    cells = [f"log = [*globals().get('log', []), {i}]" for i in range(6)]
    answers = in_threads([lambda code=code: execute(service, "crowd", code) for code in cells])
    assert [a["process_status"] for a in answers] == ["completed"] * 6, answers
    assert sum(a["new_session_created"] for a in answers) == 1, answers
    assert execute(service, "crowd", "sorted(log)") == completed("[0, 1, 2, 3, 4, 5]\n")
    large = "s = '" + "x" * (600 << 10) + "'\nlen(s)"  # more than 256 KiB is read in a thread
    assert execute(service, "crowd", large) == completed(f"{600 << 10}\n")


def test_execute_sessions_belong_to_their_key(start_service):
    s = start_service("--set", "pools.preload=used")
    one, two = (s.add_key(name, "run") for name in ("one", "two"))
    assert eventually(lambda: s.get("/sessions", key=two).status == 200)
    assert execute(s, "same", "x = 'of one'", key=one) == completed("", new=True)
    assert execute(s, "same", "'x' in dir()", key=two) == completed("False\n", new=True)
    assert s.delete("/sessions/same", key=two).status == 200
    assert s.delete("/sessions/same", key=two).status == 404
    assert s.get("/sessions", key=two).json["sessions"] == {}
    assert list(s.get("/sessions", key=one).json["sessions"]) == ["same"]
    assert execute(s, "same", "x", key=one) == completed("'of one'\n")
    assert s.get("/sessions").status == 401 and s.get("/health").status == 200
