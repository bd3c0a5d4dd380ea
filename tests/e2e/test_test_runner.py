"""tests/run: the second process, which builds and checks while tests wait."""

import importlib.machinery
import importlib.util
import os
import shutil
import time

import pytest

from harness import REPO, eventually

pytestmark = pytest.mark.release_only

BUILD = """#!/bin/bash
echo "built $*"; [ "$1" != "$(cat broken 2>/dev/null)" ]
"""
CHECK = """#!/bin/bash
# A process below it counts until it is told to end.
bash -c 'i=0; while [ ! -e enough ]; do i=$((i + 1)); echo $i >count.new; mv count.new count; sleep 0.01; done'
echo "ok format"; [ ! -e wrong ] || { echo "FAIL words"; exit 1; }
"""


@pytest.fixture
def runner(tmp_path):
    """The program tests/run in a tree that has only a build and a check."""
    for name, text in (("scripts/build", BUILD), ("scripts/check", CHECK)):
        (tmp_path / "scripts").mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    (tmp_path / "tests").mkdir()
    shutil.copy(f"{REPO}/tests/run", tmp_path / "tests/run")
    loader = importlib.machinery.SourceFileLoader("runner", str(tmp_path / "tests/run"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("runner", loader))
    loader.exec_module(module)
    yield module
    if module.beside:
        module.beside.end()


def count(runner):
    try:
        return int((runner.ROOT / "count").read_text())
    except OSError:
        return 0


def test_the_second_process_stands_still_while_tests_run_alone(runner):
    b = runner.beside = runner.Beside(build=True)
    b.wait_until_built()
    assert eventually(lambda: count(runner) > 3)
    assert os.getpriority(os.PRIO_PROCESS, b.pid) == 19
    # Its processes are not taken for processes that a test left.
    assert not {pid for pid, _ in runner.descendants()} & set(b.family()) and len(b.family()) > 2
    b.pause()
    before = count(runner)
    time.sleep(0.3)
    assert count(runner) == before
    b.go_on()
    assert eventually(lambda: count(runner) > before)
    (runner.ROOT / "enough").touch()
    tally, timings = b.result()
    assert (tally.passed, tally.failed) == (1, [])
    assert [line.split("  ")[0] for line in timings] == ["build asan", "build fuzz", "checks"], timings
    assert "built asan --werror --tests\n" in (b.dir / "log").read_text()


@pytest.mark.parametrize("cause, failed", [
    ("broken", ["build asan: ended with status 1"]), ("wrong", ["checks words"]), ("killed", ["checks: the process"])])
def test_no_failure_of_the_second_process_is_lost(runner, cause, failed):
    if cause != "killed":
        (runner.ROOT / "enough").touch()
        (runner.ROOT / cause).write_text("asan")
    b = runner.beside = runner.Beside(build=True)
    if cause == "killed":
        os.kill(b.pid, 9)
    b.wait_until_built()
    tally, _ = b.result()
    assert len(tally.failed) == 1 and tally.failed[0].startswith(failed[0]), tally.failed


def test_an_end_of_the_second_process_leaves_nothing(runner):
    b = runner.beside = runner.Beside(build=False)
    assert eventually(lambda: count(runner) > 0)
    family = b.family()
    b.pause()
    b.end()
    assert eventually(lambda: not any(os.path.exists(f"/proc/{pid}/exe") for pid in family)) and not b.dir.exists()
