"""Failures explained over HTTP: in results, for errors from elsewhere, and as debug reports."""

import json
import re

import pytest

from harness import eventually
from service import ROOMY, Service

FAILS = "def area(w, h):\n    return w * h\n\n\nprint(area(3))\n"
TRACE = ("""\
Traceback (most recent call last):
  File "/home/ada/shop.py", line 2, in <module>
    prnt(total)
    ^^^^
NameError: name 'prnt' is not defined
""")
KEYS = {"language", "category", "type", "message", "location", "excerpt", "frames", "causes", "further_errors",
        "suggestions", "values", "docs", "sandbox", "verdict"}


@pytest.fixture(scope="module")
def s():
    with Service(*ROOMY) as service:
        yield service


def test_a_failed_run_is_explained_in_its_result(s):
    d = s.run(FAILS)["diagnosis"]
    assert set(d) == KEYS
    assert d["location"] == {"file": "main.py", "line": 5, "column": 7, "end_column": 14}
    assert d["excerpt"][-1] == {"line": 5, "text": "print(area(3))", "caret": [7, 14]}
    assert (d["category"], d["type"], d["verdict"], d["sandbox"]) == ("type", "TypeError", "runtime_error", False)
    assert "def area(w, h)" in d["suggestions"][0]["text"]
    assert d["frames"][0]["user"] is True and d["docs"].endswith("#TypeError")


def test_all_errors_of_a_compiler_are_in_the_result(s):
    code = """\
#include <stdio.h>
int main(void)
{
    first = 1;
    second = 2;
    second = 3;
    return third;
}
"""
    d = s.run(code, language="c")["diagnosis"]
    assert d["location"]["line"] == 4
    further = d["further_errors"]
    assert [e["location"]["line"] for e in further["errors"]] == [5, 7] and further["left_out"] == 0
    assert "third" in further["errors"][1]["message"]


def test_a_run_that_ended_well_has_no_diagnosis(s):
    assert s.run("import sys; print('NameError: no', file=sys.stderr)")["diagnosis"] is None


def test_the_verdict_is_never_what_the_program_printed(s):
    forged = """\
import sys; print('Traceback (most recent call last):\\n  File "/sandbox/main.py", line 1, in <module>\\nMemoryError',
                  file=sys.stderr); sys.exit(1)"""
    result = s.run(forged)
    assert result["verdict"] == "runtime_error" and result["diagnosis"]["verdict"] == "runtime_error"


def test_what_was_printed_in_the_middle_of_a_flood_does_not_hide_the_error(s):
    result = s.run("import sys\nfor i in range(40000): print('noise', i, file=sys.stderr)\nraise KeyError('last')")
    assert result["diagnosis"]["type"] == "KeyError" and result["diagnosis"]["location"]["line"] == 3


def test_an_error_from_elsewhere_is_explained(s):
    answer = s.post("/v1/diagnoses", {"language": "python", "stderr": TRACE, "files": {"shop.py": """\
total = 3
prnt(total)
"""}}).json
    assert answer["reason"] is None and set(answer["diagnosis"]) == KEYS
    assert answer["diagnosis"]["location"]["file"] == "shop.py" and answer["diagnosis"]["location"]["line"] == 2
    assert answer["diagnosis"]["suggestions"][0]["replacement"] == "print(total)"
    guessed = s.post("/v1/diagnoses", {"stderr": TRACE}).json["diagnosis"]
    assert guessed["language"] == "python" and guessed["type"] == "NameError"


def test_text_without_an_error_is_said_to_have_none(s):
    answer = s.post("/v1/diagnoses", {"stderr": "all is well\n"}).json
    assert answer["diagnosis"] is None and "no error was found" in answer["reason"]
    refused = s.post("/v1/diagnoses", {"stderr": "x", "language": "klingon"})
    assert refused.status == 400 and refused.error["field"] == "language"


def test_hostile_text_is_explained_in_bounded_time(s):
    for text in ("(" * 200000, "a:" * 100000, '  File "x", line 1, in f\n' * 8000, "Error: " * 30000, "\n" * 200000,
                 "at " * 60000, "~^" * 100000, "x" * 250000 + ": line 1: y"):
        for language in ("python", "javascript", "typescript", "bash", "c", "go", "rust", "java", None):
            body = {"stderr": text, **({"language": language} if language else {})}
            assert s.post("/v1/diagnoses", body, within=10).status == 200


def test_debug_report_of_a_failure(s):
    run = s.run(FAILS)
    answer = s.get(f"/v1/runs/{run['id']}/debug-report").json
    assert set(answer) == {"analysis", "report"}
    assert answer["analysis"] == {"is_error": True, "error_type": "python_exception", "exception": "TypeError",
                                  "suggestion": run["diagnosis"]["suggestions"][0]["text"],
                                  "error": run["diagnosis"]["message"]}
    report = answer["report"]
    assert report["status"] == "failure" and report["exit_code"] == 1 and report["container_id"] == run["id"]
    assert report["output"]["stderr"] == run["stderr"] and report["execution_time"] > 0
    assert report["resource_usage"] == run["usage"] and report["language"] == "python" and "output_files" not in report


def test_debug_report_of_a_success_and_of_a_timeout(s):
    ok = s.run("open('a.txt', 'w').write('x')", outputs=["a.txt"])
    answer = s.get(f"/v1/runs/{ok['id']}/debug-report").json
    assert answer["analysis"] == {"is_error": False, "error_type": "unknown"}
    assert answer["report"]["status"] == "success" and answer["report"]["output_files"] == ["a.txt"]
    slow = s.run("import time; time.sleep(60)", limits={"wall_ms": 300})
    answer = s.get(f"/v1/runs/{slow['id']}/debug-report").json
    assert answer["analysis"]["error_type"] == "timeout" and answer["report"]["exit_code"] == 124


def test_debug_report_of_what_the_sandbox_caused(s):
    run = s.run("open('/usr/x', 'w')")
    answer = s.get(f"/v1/runs/{run['id']}/debug-report").json
    assert answer["analysis"]["error_type"] == "sandbox_error" and "--writable-root" in answer["analysis"]["suggestion"]


def test_debug_report_of_a_run_that_is_not_over(s):
    started = s.post("/v1/runs", {"code": "import time; time.sleep(30)", "language": "python", "wait": False}).json
    refused = s.get(f"/v1/runs/{started['id']}/debug-report")
    assert refused.status == 409 and "not over" in refused.error["message"]
    s.delete(f"/v1/runs/{started['id']}")
    assert s.get("/v1/runs/run_none/debug-report").status == 404


def test_the_document_describes_what_is_answered(s):
    schemas = s.get("/openapi.json").json["components"]["schemas"]
    assert set(schemas["Diagnosis"]["properties"]) == KEYS
    assert json.dumps(schemas["DebugReport"])


# ---- suggestions that are tried ----

SHOP = 'def total(items):\n    return sum(item["prize"] for item in items)\n\n\nprint(input(), total([{"price": 3}]))\n'


def test_a_suggestion_is_tried_with_the_input_of_the_run(s):
    result = s.run(SHOP, fixes="try", stdin="sum\n", args=["a"])
    fixes = result["fixes"]
    cure = fixes["candidates"][fixes["best"]]
    assert (cure["outcome"], cure["verdict"], cure["error"]) == ("cures", "ok", None)
    assert '-    return sum(item["prize"] for item in items)\n+    return sum(item["price"]' in cure["diff"]
    assert result["verdict"] == "runtime_error" and result["diagnosis"]["suggestions"][0]["outcome"] == "cures"
    tried = s.get(f"/v1/runs/{cure['run_id']}").json
    assert tried["stdout"] == "sum 3\n" and tried["batch_id"] == result["id"]
    assert s.get(f"/v1/runs/{result['id']}").json["fixes"] == fixes
    surfaces = [row["surface"] for row in s.get(f"/v1/runs?batch={result['id']}").json["runs"]]
    assert surfaces == ["fix"] * len(surfaces) and len(surfaces) == 2  # the candidate, and the program as it was


def test_without_a_request_nothing_is_tried(s):
    result = s.run(SHOP, stdin="sum\n")
    assert "fixes" not in result and s.get(f"/v1/runs?batch={result['id']}").json["runs"] == []
    well = s.run("print(1)", fixes="try")
    assert well["fixes"]["candidates"] == [] and well["fixes"]["reason"] is None


def test_an_error_that_only_moves_is_told_with_its_line(s):
    fixes = s.run('d = {"price": 1}\nprint(d["prize"])\nprint(d["none"])\n', fixes="try")["fixes"]
    moved = fixes["candidates"][0]
    assert fixes["best"] is None and moved["outcome"] == "moves"
    assert (moved["error"]["type"], moved["error"]["line"]) == ("KeyError", 3)


def test_a_program_that_fails_now_and_then_is_not_called_cured(s):
    # Nothing tells a try from the run: a jar has no memory. Chance alone makes one end well.
    chance = 'import os\nd = {"price": 1}\nif os.urandom(1)[0] < 128: print(d["prize"])\n'
    seen = set()
    for _ in range(40):
        result = s.run(chance, fixes="try")
        if result["verdict"] == "runtime_error":
            seen.update(c["outcome"] for c in result["fixes"]["candidates"])
        if "unsteady" in seen:
            break
    assert "unsteady" in seen and seen <= {"unsteady", "cures", "moves", "no_change"}


def test_a_change_that_makes_the_program_loop_ends_at_a_limit(s):
    loop = 'd = {"price": 1}\nd["prize"]\nwhile True: pass\n'
    result = s.run(loop, fixes="try", limits={"wall_ms": 700})
    assert result["verdict"] == "runtime_error"
    first = result["fixes"]["candidates"][0]
    assert (first["outcome"], first["verdict"], result["fixes"]["best"]) == ("limit", "timeout", None)


def test_a_failed_run_can_be_cancelled_while_its_suggestions_are_tried(s):
    loop = 'd = {"price": 1}\nd["prize"]\nwhile True: pass\n'
    run = s.run(loop, fixes="try", limits={"wall_ms": 9000}, wait=False, status=202)
    looping = eventually(lambda: s.get(f"/v1/runs?batch={run['id']}&state=running").json["runs"])
    assert s.delete(f"/v1/runs/{run['id']}").status in (200, 202)
    done = eventually(lambda: (r := s.get(f"/v1/runs/{run['id']}").json).get("state") == "finished" and r)
    candidate = done["fixes"]["candidates"][0]
    assert (done["verdict"], candidate["verdict"], candidate["outcome"]) == ("runtime_error", "cancelled", "not_tried")
    assert "a client cancelled it" in candidate["reason"] and candidate["wall_ms"] < 9000
    assert s.get(f"/v1/runs/{looping[0]['id']}").json["state"] == "finished"


def test_a_program_cannot_tell_that_it_is_tried(s):
    """It prints, writes files and asks for the time; each try begins as the run did."""
    code = ('import os, sys\nprint(sorted(os.listdir("/sandbox")), sys.argv, sorted(os.environ), os.getpid())\n'
            'open("mark", "w").close()\nd = {"price": 1}\nprint(d["prize"])\n')
    result = s.run(code, fixes="try")
    cure = result["fixes"]["candidates"][0]
    assert cure["outcome"] == "cures"
    assert s.get(f"/v1/runs/{cure['run_id']}").json["stdout"] == result["stdout"] + "1\n"


def test_a_try_needs_the_approval_that_the_run_needed(s):
    broad = s.run(SHOP, fixes="try", stdin="sum\n", permission_mode="default", wait=False, status=202)
    assert broad["state"] == "waiting"
    approval = broad["approval"]["id"]
    assert s.post(f"/v1/approvals/{approval}", {"decision": "approve"}).status == 200
    done = eventually(lambda: (r := s.get(f"/v1/runs/{broad['id']}").json).get("state") == "finished" and r)
    assert {c["outcome"] for c in done["fixes"]["candidates"]} == {"not_tried"}
    assert "asks before" in done["fixes"]["candidates"][0]["reason"]


def test_a_long_line_and_a_large_program_are_not_tried(s):
    long = 'd = {"price": 1}; x = "' + "a" * 100_000 + '"; print(d["prize"])\n'
    result = s.run(long, fixes="try")
    assert result["fixes"]["candidates"] == [] or result["fixes"]["best"] is None
    large = s.run('d = {"price": 1}\nprint(d["prize"])\n# ' + "a" * (1 << 20), fixes="try")
    assert "256 KiB" in large["fixes"]["reason"] and large["fixes"]["candidates"] == []


def test_a_compiled_program_is_tried(s):
    code = '#include <stdio.h>\nint main(void)\n{\n    int total = 3;\n    printf("%d\\n", totl);\n    return 0;\n}\n'
    fixes = s.run(code, language="c", fixes="try")["fixes"]
    assert [c["outcome"] for c in fixes["candidates"]] == ["cures"]


# ---- where it was when it was stopped ----

SPIN = "def spin():\n    while True:\n        pass\n\n\nspin()\n"


def stopped(s, code, **options):
    """A run with a warm start that its deadline ended, on a machine that may be too busy for an answer in time."""
    def place():
        r = s.run(code, limits={"wall_ms": 800}, **options)
        assert r["verdict"] == "timeout", r
        return r if r["diagnosis"]["location"] else None
    return eventually(place, 60)


@pytest.mark.parametrize("language, code, line, words", [
    ("python", SPIN, (2, 3), "in spin"),
    ("python", "import time\nprint(1)\ntime.sleep(99)\n", (3,), "it waited at line 3"),
    ("python", "import threading\n\ndef work():\n    while True:\n        pass\n\nt = threading.Thread(target=work)\n"
               "t.start()\nt.join()\n", (4, 5), "in work"),
    ("python", "while True:\n    try:\n        raise ValueError\n    except BaseException:\n        pass\n",
     (1, 2, 3, 4, 5), "the loop at line 1|which is a loop"),
    ("javascript", "function spin() {\n  let x = 0;\n  while (true) {\n    x += 1;\n  }\n}\nspin();\n", (3, 4, 5),
     "in spin"),
    ("ruby", "def spin\n  x = 0\n  while true\n    x += 1\n  end\nend\nspin\n", (3, 4), "in spin"),
], ids=["python", "sleep", "thread", "catch", "javascript", "ruby"])
def test_a_stopped_program_is_told_its_line(s, language, code, line, words):
    if not {x["name"]: x for x in s.get("/v1/languages").json}[language]["installed"]:
        pytest.skip(f"{language} is not installed")
    r = stopped(s, code, language=language)
    d = r["diagnosis"]
    assert d["location"]["line"] in line and d["frames"][0]["user"], d
    assert re.search(words, d["suggestions"][0]["text"]), d["suggestions"]
    assert r["stderr"] == "" and r["stdout"] == ("1\n" if "print(1)" in code else "")


def test_the_question_for_the_line_ends_no_wait_and_leaves_no_file(s):
    for code in ("import signal\nsignal.pause()\nprint('woken')\n",
                 "import ctypes\nctypes.CDLL(None).sleep(99)\nprint('woken')\n"):
        r = s.run(code, limits={"wall_ms": 700})
        assert (r["verdict"], r["stdout"], r["stderr"]) == ("timeout", "", ""), r
    r = s.run(SPIN, limits={"wall_ms": 700}, outputs=["."])
    assert [f["name"] for f in r["files"]] == ["main.py"], r["files"]


def test_a_program_that_invents_its_line_misleads_its_diagnosis_alone(s):
    name, loop = ".belljar-whereabouts", "import signal, os\nsignal.signal(signal.SIGURG, signal.SIG_IGN)\n"
    for code in (f"open('{name}', 'w').write('At\\nStack\\n' + '  File \"main.py\", line 7 in x\\n' * 9000)\n",
                 f"os.mkdir('{name}')\n", f"os.symlink('/etc/passwd', '{name}')\n", f"os.mkfifo('{name}')\n"):
        r = s.run(loop + code + "while True: pass\n", limits={"wall_ms": 700})
        assert r["verdict"] == "timeout" and "passwd" not in json.dumps(r["diagnosis"]), r
        assert r["usage"]["wall_ms"] < 5000 and r["files"] == [], r


def test_a_second_look_names_the_line_where_the_time_went(s):
    code = "import signal\nsignal.signal(signal.SIGURG, signal.SIG_IGN)\n" + SPIN
    plain = s.run(code, limits={"wall_ms": 600})["diagnosis"]
    assert plain["location"] is None
    looked = s.run(code, limits={"wall_ms": 1500}, fixes="try")
    assert looked["verdict"] == "timeout" and looked["diagnosis"]["location"]["line"] in (4, 5), looked["diagnosis"]
    assert "Most of the time" in looked["diagnosis"]["suggestions"][0]["text"]


def test_a_second_look_names_the_line_where_a_shell_ended_in_silence(s):
    code = "set -e\nx=1\ntest $x = 2\necho never\n"
    d = s.run(code, language="bash", fixes="try")["diagnosis"]
    assert d["location"]["line"] == 3 and d["excerpt"] == [{"line": 3, "text": "test $x = 2"}]
    assert "ended it is at line 3" in d["suggestions"][0]["text"]


CRASHES = {
    "far": ("c", "#include <stdio.h>\n#include <stdlib.h>\nint main(void) {\n  int n = 4, *a = malloc(n * sizeof *a);\n"
            "  for (int i = 0; i < n * n * 1000000; i++)\n    a[i] = i;\n  printf(\"%d\\n\", a[1]);\n}\n",
            6, "compare the index", "heap-buffer-overflow"),
    "free": ("c", "#include <stdlib.h>\n#include <string.h>\nstatic char *text(char *p) {\n"
             "  while (*p == ' ') p++;\n  return p;\n}\nint main(void) {\n  char *word = text(strdup(\"  a\"));\n"
             "  free(word);\n}\n", 9, "keep the pointer", "free"),
    "thrown": ("cpp", "#include <iostream>\n#include <vector>\nint pick(const std::vector<int> &v, size_t i) {\n"
               "  if (i > 90)\n    return v.at(i - 90);\n  return v.at(i + 1);\n}\nint main() {\n"
               "  std::vector<int> v{1, 2, 3};\n  std::cout << pick(v, 7);\n}\n",
               6, "the size is 3", "std::out_of_range"),
}


@pytest.mark.parametrize("code", CRASHES)
def test_a_second_look_names_the_line_of_a_crash(s, code):
    """The sanitizers tell it. An exception keeps its own words."""
    language, text, line, words, kind = CRASHES[code]
    plain = s.run(text, language=language)["diagnosis"]
    assert plain["location"] is None, plain
    r = s.run(text, language=language, fixes="try", within=60)
    d = r["diagnosis"]
    assert r["verdict"] == "runtime_error" and d["location"]["line"] == line and d["type"] == kind, d
    assert words in d["suggestions"][0]["text"], d
    assert text.split("\n")[line - 1] in [x["text"] for x in d["excerpt"]]


def test_a_second_look_leaves_a_crash_that_does_not_come_back(s):
    code = ("#include <stdlib.h>\n#include <string.h>\nint main(void) {\n"
            "  if (strstr(getenv(\"ASAN_OPTIONS\"), \"handle_abort\")) return 0;\n  *(volatile int *)1 = 2;\n}\n")
    d = s.run(code, language="c", fixes="try", within=60)["diagnosis"]
    assert d["location"] is None and d["type"] == "SIGSEGV", d


def test_a_fork_bomb_is_told_its_limit_and_not_more_time(s):
    code = "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass\n"
    d = s.run(code, limits={"wall_ms": 1000, "pids": 16})["diagnosis"]
    assert d["type"] == "timeout" and "limit of 16" in d["suggestions"][0]["text"]
    assert not any("--timeout" in x["text"] for x in d["suggestions"])


def test_a_query_that_was_stopped_is_told_with_its_text(s):
    code = ("CREATE TABLE t (a);\n-- a comment\nWITH RECURSIVE n(i) AS (\n  SELECT 1 UNION ALL SELECT i + 1 FROM n)\n"
            "SELECT max(i) FROM n;\nSELECT 2;\n")
    d = s.run(code, language="sqlite", limits={"wall_ms": 700})["diagnosis"]
    assert d["type"] == "timeout" and d["location"]["line"] in (2, 3)
    assert "WITH RECURSIVE n(i) AS (   SELECT 1" in d["suggestions"][0]["text"], d["suggestions"]
