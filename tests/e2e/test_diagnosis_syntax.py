"""Programs that Python cannot read (tests/data/syntax) have good advice, and a line that is offered can be read: the
parser tries each."""

import json
import re
import traceback

import pytest

from harness import REPO
from service import Service

pytestmark = pytest.mark.release_only  # about rules, which are data
PROGRAMS = json.loads((REPO / "tests/data/syntax/python.json").read_text())
MESSAGES = REPO / "tests/data/syntax/messages.tsv"
GOOD, CURED = 98, 98  # percent


def problem(code):
    """(line, text as the interpreter prints it); None when Python can read it."""
    try:
        compile(code, "main.py", "exec")
    except SyntaxError as e:
        return e.lineno or 0, "".join(traceback.format_exception_only(e))
    return None


@pytest.fixture(scope="module")
def service():
    with Service("--set", "pools.max=0") as s:
        yield s


def diagnosis_of(service, text, code):
    return service.post("/v1/diagnoses", {"language": "python", "stderr": text,
                                          "files": {"main.py": code}}).json["diagnosis"]


@pytest.fixture(scope="module")
def explained(service):
    """[(program, its problem, its diagnosis)]"""
    found = [(program, problem(program["code"])) for program in PROGRAMS]
    return [(program, was, diagnosis_of(service, was[1], program["code"])) for program, was in found if was]


def test_nearly_every_program_that_cannot_be_read_has_good_advice(explained):
    assert len(explained) > 200  # a later Python can read a few of them
    bad = []
    for program, was, d in explained:
        best = d["suggestions"][0] if d["suggestions"] else {"text": ""}
        if not re.search(program["good"], f"{best['text']}\n{best.get('replacement', '')}", re.IGNORECASE):
            bad.append(f"{program['code']!r}: {best['text']} (Python: {was[1].splitlines()[-1]})")
    assert len(bad) * 100 <= (100 - GOOD) * len(explained), "\n".join(bad)


def test_nearly_every_corrected_line_can_be_read(explained):
    tried, bad = 0, []
    for program, was, d in explained:
        for suggestion in d["suggestions"]:
            if suggestion.get("action") != "replace":
                continue
            line, lines = d["location"]["line"], program["code"].split("\n")
            assert lines[line - 1] != suggestion["replacement"], (program, suggestion)
            lines[line - 1] = suggestion["replacement"]
            now = problem("\n".join(lines))
            tried += 1
            if now and now[0] <= line:
                bad.append(f"{program['code']!r}: {suggestion['replacement']!r} ({now[1].splitlines()[-1]})")
    assert tried > 60
    assert len(bad) * 100 <= (100 - CURED) * tried, "\n".join(bad)


def test_every_message_of_the_parser_has_advice_of_its_own(service):
    rows = [line.split("\t") for line in MESSAGES.read_text().splitlines() if not line.startswith("#")]
    bad = []
    for message, pattern, *code in rows:
        line = code[0] if code else "x"
        kind = "TabError" if "tabs" in message else "IndentationError" if "indent" in message else "SyntaxError"
        text = f'  File "main.py", line 1\n    {line}\n    ^\n{kind}: {message}\n'
        found = diagnosis_of(service, text, line + "\n")["suggestions"]
        if not found or not re.search(pattern, found[0]["text"], re.IGNORECASE) \
                or "could read up to the mark" in found[0]["text"]:
            bad.append(f"{message}: {found[0]['text'] if found else 'no advice'}")
    assert len(rows) > 200
    assert not bad, "\n".join(bad)
