"""The diagnosis of a program that fails is right: the place, the kind of failure, and the advice. The programs are
those of tests/data/diagnosis, and one service runs them. For a language that is not installed, the recorded output of
another machine is explained."""

import pytest

import diagnosis
import harness

# Percent. With the sanitizers most programs do not run: their output is explained, which tells neither an exit status
# nor a limit.
LINES, CATEGORIES, SUGGESTIONS = (95, 92, 80) if harness.ASAN else (98, 95, 80)


@pytest.fixture(scope="module")
def found():
    return diagnosis.results(diagnosis.cases())


def test_failures_are_explained(found, capsys):
    scores = diagnosis.score(found)
    complaints = "\n".join(filter(None, (diagnosis.complaint(case, result) for case, result in found)))
    with capsys.disabled():
        print("\n" + diagnosis.table(scores))
    total = scores["all"]
    assert total.percent("line") >= LINES, complaints
    assert total.percent("category") >= CATEGORIES, complaints
    assert total.percent("suggestion") >= SUGGESTIONS, complaints


def test_every_language_is_in_the_corpus(found):
    folders = {case.folder for case, _ in found}
    assert {"python", "javascript", "typescript", "bash", "zsh", "system", "c", "cpp", "go", "rust", "java", "ruby",
            "php", "perl", "lua",
            "r", "sqlite", "postgres"} <= folders


def test_no_expectation_is_without_its_program():
    for case in diagnosis.cases():
        assert case.path.exists(), case.label
        named = {c.name for c in diagnosis.cases(case.folder)}
        assert len(named) == len(list(diagnosis.cases(case.folder))), f"{case.folder}: a name is there twice"
