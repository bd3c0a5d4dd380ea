"""`belljar compare`, `belljar run --bench` and `belljar artifacts`."""

import json

import pytest

from harness import belljar
from service import Service


@pytest.fixture(scope="module")
def s():
    with Service("--set", "pools.max=0") as service:
        yield service


@pytest.fixture
def work(public_path):
    for name, text in {"sum.py": "print(sum(range(100)))", "loop.py": "print(sum([i for i in range(100)]))",
                       "other.py": "print('4950')\nprint('\\x1b[31mmore')", "bad.py": "1 / 0",
                       "double.py": "print(2 * int(input()))", "in.txt": "21"}.items():
        (public_path / name).write_text(text)
    return public_path


def table(result):
    lines = result.out.decode().splitlines()
    return {line[:16].strip(): line[16:] for line in lines if line[:16].strip()}, lines


def test_compare_tells_results_outputs_and_spread(s, work):
    """R8.2"""
    same = belljar("compare", "--state", s.state, "-n", "2", work / "sum.py", work / "loop.py")
    found, lines = table(same)
    assert same.status == 0 and lines[-1] == "The outputs are the same.", same
    assert found["result"].split() == ["ok", "ok"] and found["start"].split() == ["cold", "cold"], same
    for name, unit in (("time", "ms"), ("cpu time", "ms"), ("memory", "MiB")):
        words = found[name].split()
        assert words[1] == words[5] == unit and words[2] == words[6] == "±" and words[8] == "x", same
        assert float(words[0]) > 0 and float(words[9]) > 0, same
    other = belljar("compare", "--state", s.state, "--json", "-n", "2", work / "sum.py", work / "other.py")
    answer = json.loads(other.out)
    assert other.status == 1 and answer["same"] is False, other
    first = answer["programs"][0]
    walls = sorted(r["usage"]["wall_ms"] for r in first["results"])
    assert first["runs"] == 2 and first["verdict"] == "ok" and first["steady"] is True
    assert first["wall_ms"]["min"] == pytest.approx(walls[0]) and first["wall_ms"]["max"] == pytest.approx(walls[1])
    assert first["wall_ms"]["median"] == pytest.approx(sum(walls) / 2)


def test_compare_shows_two_runs_of_the_history(s):
    """R8.2"""
    a, b = s.run("print(1)\nprint(2)"), s.run("print(1)\nprint('\\x1b[31m3')")
    shown = belljar("compare", "--state", s.state, a["id"], b["id"])
    text = shown.out.decode()
    assert shown.status == 1 and text.endswith("differ from line 2 on:\n  - 2\n  + <U+001B>[31m3\n"), shown
    assert f"{a['usage']['wall_ms']:.1f} ms" in text and "±" not in text, shown
    assert belljar("compare", "--state", s.state, a["id"], a["id"]).status == 0


def test_bench_repeats_a_program(s, work):
    """R8.2"""
    before = s.get("/v1/stats").json["since_start"]["accepted"]
    result = belljar("run", "--state", s.state, "--bench", "3", "--json", "--stdin", work / "in.txt",
                     work / "double.py")
    program = json.loads(result.out)["programs"][0]
    assert result.status == 0 and [r["stdout"] for r in program["results"]] == ["42\n"] * 3, result
    assert s.get("/v1/stats").json["since_start"]["accepted"] == before + 4  # the first is not counted
    alone = belljar("run", "--local", "--bench", "1", work / "bad.py")
    found, _ = table(alone)
    assert alone.status == 1 and found["result"].strip() == "runtime_error", alone


def test_bad_comparisons_are_refused_with_one_sentence(s, work):
    """R8.2"""
    for argv, said in ((["compare", work / "sum.py"], "two programs or two runs"),
                       (["compare", work / "sum.py", "run_x"], "a program and a run"),
                       (["compare", "run_x", "run_y"], "run_x"), (["compare", "run_a/../b", "run_c"], "run_a/../b"),
                       (["compare", work / "sum.py", work / "none.py"], "none.py"),
                       (["compare", "-n", "0", work / "sum.py", work / "sum.py"], "--repeat '0'"),
                       (["run", "--bench", "0", work / "sum.py"], "--bench '0'"),
                       (["run", "--bench", "2", "--out", "x", work / "sum.py"], "--out"),
                       (["run", "--bench", "2", "--strict", work / "sum.py"], "--strict"),
                       (["run", "--bench", "2", "--stdin", "/nonexistent", work / "sum.py"], "/nonexistent")):
        result = belljar(*argv, "--state", s.state)
        assert result.status in (64, 125) and result.out == b"" and said in result.message, result


def test_artifacts_at_the_terminal(s, work):
    """R8.2"""
    def artifacts(*argv, status=0, stdin=None):
        result = belljar("artifacts", *argv, "--state", s.state, stdin=stdin)
        assert result.status == status, result
        return result.out.decode(), result.err.decode()
    assert "there are no artifacts" in artifacts("ls")[1]
    made = json.loads(artifacts("add", work / "double.py", "--json")[0])["id"]
    assert artifacts("show", made)[0] == "print(2 * int(input()))"
    assert artifacts("run", made, "--stdin", work / "in.txt")[0] == "42\n"
    assert "v2" in artifacts("update", made, "-", "--title", "bad \x1b[31m", stdin=b"1 / 0")[0]
    out, err = artifacts("run", made, status=1)
    assert out == "" and "ZeroDivisionError" in err
    listed = artifacts("ls")[0]
    assert made in listed and "<U+001B>" in listed and "\x1b" not in listed, listed
    assert [line.split()[0] for line in artifacts("versions", made)[0].splitlines()] == ["v1", "v2"]
    copy = artifacts("fork", made)[0].split()[0]
    assert copy.startswith("art_") and copy != made
    assert len(json.loads(artifacts("ls", "--json")[0])) == 2
    artifacts("rm", made)
    assert "not found" in artifacts("show", made, status=125)[1].lower()
    assert "language of" in artifacts("add", "/dev/null", status=64)[1]
    assert "'belljar artifacts ls'" in artifacts("show", "a/b", status=64)[1]
