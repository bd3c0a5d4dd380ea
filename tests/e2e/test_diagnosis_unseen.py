"""The advice for programs that no rule was adapted to (tests/data/unseen): every twelfth of the larger files, and all
in the group soak. The score at first sight is in docs/diagnosis.md; this test only shows that it does not fall."""

import pytest

import harness
import unseen

pytestmark = pytest.mark.release_only  # about rules, which are data
QUICK = ("python", "javascript", "bash", "ruby", "php", "perl", "lua", "sqlite")  # nothing to compile
GOOD, LINES, CATEGORIES, FALSE = 90, 94, 94, 0.5  # percent


def sample(programs):
    if harness.SOAK:
        return programs
    larger = [p for p in programs if not p.group.startswith("fresh-")]
    quick = [p for p in larger if unseen.is_log(p) or p.language in QUICK]
    return [p for p in quick if unseen.is_log(p)] + [p for p in quick if not unseen.is_log(p)][::12]


@pytest.fixture(scope="module")
def scores():
    found = unseen.results(sample(unseen.programs()))
    complaints = "\n".join(unseen.complaint(p, d) for p, d in found if isinstance(d, str) or unseen.judge(p, d))
    return unseen.score(found), complaints


def test_programs_that_no_rule_was_adapted_to_are_explained(scores):
    (total, complaints) = scores[0]["all"], scores[1]
    number = total["programs"]
    assert number >= 100, complaints
    assert total["line"] * 100 >= LINES * number, complaints
    assert total["category"] * 100 >= CATEGORIES * number, complaints
    assert total["good"] * 100 >= GOOD * total["advised"], complaints
    assert total["false"] * 100 <= FALSE * number, complaints
    assert total["more"] == 0, complaints  # every failure of a test runner is named


def test_the_corpus_has_every_kind_of_program():
    kinds = {p.group for p in unseen.programs()}
    assert {"python-syntax", "python-runtime", "languages", "logs"} <= kinds
    assert len(unseen.programs()) >= 400
