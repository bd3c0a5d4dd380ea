"""Failures explained over HTTP: in results, for errors from elsewhere, and as debug reports."""

import json

import pytest

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
        "suggestions", "docs", "sandbox", "verdict"}


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
