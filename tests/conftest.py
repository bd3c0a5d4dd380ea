"""Fixtures of the end-to-end and escape tests.

tests/escape checks around every test that the host is unharmed; other tests ask for `host` where they mean it.
"""

import os
import shutil
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))

import pytest

import harness
import hostview
import service as service_harness
import warm

# A service of the user's own is nobody's business here: `belljar run` finds none unless a test says where.
os.environ["BELLJAR_STATE"] = "/nonexistent/belljar"
# Nor is what the user compiled before: it is compiled anew, and not kept, unless a test says where.
os.environ["XDG_CACHE_HOME"] = "/nonexistent/cache"


# Tests that measure the machine or take all of it, by the file's name, or the file's and the test's. Others wait most of the
# time, and run side by side (tests/run).
ALONE = {
    # how long, how much memory, how much CPU
    "test_cpu", "test_fork_bomb", "test_memory", "test_output_flood", "test_slow_cleanup", "test_neighbours", "test_warm_memory",
    "test_verdicts::test_timeout_keeps_partial_output", "test_service_verdicts::test_service_timeout_keeps_partial_output",
    "test_service_batches::test_batch_runs_in_parallel_as_far_as_asked",
    "test_compiled::test_limits_of_the_run_are_the_programs_alone",
    "test_profile::test_a_known_split_of_time_is_seen",
    "test_profile::test_a_timeout_keeps_the_profile",
    "test_profile::test_every_language_is_measured_from_outside",
    "test_profile::test_a_long_run_has_a_bounded_timeline",
    "test_service_sql::test_server_is_up_before_the_job",
    # the queue follows the pace of the machine; zygotes that are late are ended
    "test_service_admission", "test_service_zygotes",
    # many at once, or each moment of a start
    "test_bench::test_table_json_and_plot_say_the_same", "test_service_pools::test_service_burst_is_answered_whole_and_pools_follow_it",
    "test_cleanup", "test_warm_violence", "test_warm_recycling", "test_unique_uids",
}


def is_alone(item):
    file = item.path.stem
    return file in ALONE or f"{file}::{item.originalname or item.name}" in ALONE


def pytest_collection_modifyitems(items):
    for item in items:
        if is_alone(item):
            item.add_marker(pytest.mark.alone)
    if items and not os.access(harness.BELLJAR, os.X_OK):
        pytest.exit(f"{harness.BELLJAR} is not there: run `make build`, or set BELLJAR", returncode=3)


@pytest.fixture(scope="session")
def standing_by():
    """The service that runs everything, where that is asked for; else None."""
    if not warm.WANTED:
        yield None
        return
    with warm.service() as s:
        assert harness.eventually(lambda: warm.filled(s), 30), warm.pools(s)
        os.environ["BELLJAR_STATE"] = str(s.state)
        harness.must_be_warm, hostview.own_service = True, s.pid
        yield s
        harness.must_be_warm, hostview.own_service = False, None
        os.environ["BELLJAR_STATE"] = "/nonexistent/belljar"


def compare_the_host(standing_by, memory=True):
    before = hostview.settled()
    assert before.memory_peak
    if not memory:
        before.memory_peak = 1 << 60
    yield before
    hostview.assert_unharmed(before)
    if standing_by:
        warm.assert_only_pools(standing_by)


@pytest.fixture
def host(standing_by):
    """What the host looked like before; compared when the test is over."""
    yield from compare_the_host(standing_by)


@pytest.fixture(scope="module")
def host_of_file(standing_by):
    """The same, but once a file, which is too long for others not to use memory meanwhile."""
    yield from compare_the_host(standing_by, memory=False)


@pytest.fixture(autouse=True)
def host_unharmed_by_attacks(request):
    if "escape" in request.path.parts:
        request.getfixturevalue("host_of_file" if warm.WANTED else "host")


class Here:
    """What this machine offers to a run that asks for nothing special."""

    def __init__(self, isolation):
        self.level = isolation["level"]
        self.layers = set(isolation["layers"])
        self.unenforced = set(isolation["unenforced"])

    def enforces(self, limit):
        return limit not in self.unenforced


@pytest.fixture(scope="session")
def here(standing_by):
    return Here(harness.run_py("print(1)").json["isolation"])


@pytest.fixture
def sealed(here):
    """For promises that need a root and namespaces of the jar's own."""
    if here.level == "process":
        pytest.skip("level process has no namespaces of its own")


@pytest.fixture
def whole_jar(here):
    """For promises of the strongest level."""
    if here.level != "jar":
        pytest.skip(f"level jar is not to be had here, only {here.level}")


@pytest.fixture
def as_root():
    if not harness.ROOT:
        pytest.skip("needs root")


@pytest.fixture
def needs(here):
    """needs("memory") skips where that limit is not enforced."""

    def check(*limits):
        missing = [limit for limit in limits if not here.enforces(limit)]
        if missing:
            pytest.skip(f"level {here.level} does not enforce {', '.join(missing)} here")

    return check


MATRICES = pytest.StashKey[list]()


@pytest.fixture(scope="module")
def record_matrix(pytestconfig):
    """Takes lines that are printed when all tests are over."""
    return pytestconfig.stash.setdefault(MATRICES, []).extend


def pytest_sessionfinish(session):
    """A worker of several hands its lines to the one that prints."""
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["matrices"] = session.config.stash.get(MATRICES, [])


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node):
    node.config.stash.setdefault(MATRICES, []).extend(getattr(node, "workeroutput", {}).get("matrices", []))


def pytest_terminal_summary(terminalreporter, config):
    lines = config.stash.get(MATRICES, [])
    if lines:
        terminalreporter.section(lines[0], sep="-")
    for line in lines[1:]:
        terminalreporter.write_line(line)


@pytest.fixture
def public_path():
    """A directory every user can read, gone after the test."""
    path = harness.public_dir()
    yield path
    shutil.rmtree(path, ignore_errors=True)


@pytest.fixture
def belljar_for_everybody(public_path, monkeypatch):
    """The binary where an ordinary user can reach it, too."""
    copy = public_path / "belljar"
    shutil.copy(harness.BELLJAR, copy)
    copy.chmod(0o755)
    shutil.copytree(Path(harness.BELLJAR).parent / "guest", public_path / "guest", ignore=shutil.ignore_patterns("seed*"))
    monkeypatch.setattr(harness, "BELLJAR", str(copy))
    monkeypatch.setattr(hostview, "BELLJAR", str(copy))
    return copy


@pytest.fixture(scope="module")
def service():
    """A running service, shared by the tests of a file that leave no trace in it that others mind."""
    with service_harness.Service(*service_harness.ROOMY) as s:
        yield s


@pytest.fixture
def fresh_service():
    """A running service that nobody used before."""
    with service_harness.Service(*service_harness.ROOMY) as s:
        yield s


@pytest.fixture(scope="module")
def warm_service(here):
    """A service whose pools are filled."""
    if here.level == "process":
        pytest.skip("level process has no zygotes")
    with warm.service() as s:
        if not warm.pools(s):
            pytest.skip("no language declares a zygote")
        assert harness.eventually(lambda: warm.filled(s), 30), warm.pools(s)
        hostview.own_service = s.pid
        yield s
        hostview.own_service = None


@pytest.fixture
def pooled(warm_service):
    """The same; after the test it must be full again, and hold no more than that."""
    assert harness.eventually(lambda: warm.filled(warm_service), 30), warm.pools(warm_service)
    yield warm_service
    warm.assert_only_pools(warm_service)


@pytest.fixture
def start_service():
    """start_service("--set", "runs.max=2"): services with options of their own; all end with the test."""
    from contextlib import ExitStack

    with ExitStack() as stack:
        yield lambda *options, **how: stack.enter_context(service_harness.Service(*options, **how))
