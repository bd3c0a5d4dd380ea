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

# A service of the user stays out of the tests: `belljar run` finds none unless a test says where.
os.environ["BELLJAR_STATE"] = "/nonexistent/belljar"
# So do programs that the user compiled before: a program is compiled anew and not kept, unless a test says where.
# Nobody can make a directory there. Root could make one that merely does not exist, and later tests would find it.
os.environ["XDG_CACHE_HOME"] = harness.NO_CACHE


# Tests that by their nature take the whole machine, by the name of the file, or of the file and the test. They run
# after the others, one at a time (tests/run). A test does not belong here because it is unsteady beside others: fix it.
ALONE = {
    # These use up a resource of the whole machine (memory, CPU, processes), and other tests would not get theirs.
    "test_fork_bomb", "test_memory", "test_kernel_memory", "test_output_flood", "test_neighbours", "test_warm_memory",
    "test_warm_violence",
    "test_slow_cleanup", "test_cleanup::test_forty_at_once_all_succeed_and_leave_nothing",
    "test_service_pools::test_service_burst_is_answered_whole_and_pools_follow_it",
    "test_bench::test_table_json_and_plot_say_the_same",
    # These assert how the CPU is shared, which holds only while nobody else wants it.
    "test_cpu", "test_profile::test_a_known_split_of_time_is_seen",
    "test_profile::test_every_language_is_measured_from_outside",
    "test_service_batches::test_batch_runs_in_parallel_as_far_as_asked",
    # These kill zygotes under load and assert how soon the service is warm again.
    "test_service_zygotes",
}

# The rule for the group asan. The sanitizers watch our C code, not the interpreters in the jars. So every test runs,
# but a test with parameters runs only its first and its last case. The files of WHOLE_UNDER_ASAN run every case: there
# each case gives other bytes to one of our parsers, or takes another path through our set-up of a jar. The corpora
# under tests/data are thinned out by the tests that read them (harness.ASAN). Tests with the mark release_only, and the
# files of NOT_UNDER_ASAN, do not run: they measure time or memory, or are about interpreters alone.
WHOLE_UNDER_ASAN = {
    "test_bad_input", "test_service_bad_input", "test_service_http", "test_service_execute", "test_inputs",
    "test_outputs", "test_explain", "test_layers_taken_away", "test_levels", "test_commands", "test_exit_status",
}
# These files are about interpreters, about the words of documents or about shares of the machine. Other tests take the
# same paths through our code.
NOT_UNDER_ASAN = {
    "test_exact_python", "test_exact_typescript", "test_exact_node", "test_exact_bash", "test_language_matrix",
    "test_warm_node", "test_typescript", "test_documents", "test_neighbours", "test_service_tenants",
}


# The files that take longest begin first, so that no process is still busy with one while the others have nothing to
# do (tests/run --durations shows the times).
LONGEST = (
    "test_diagnosis", "test_service_sessions_exact", "test_exact_python", "test_exact_typescript", "test_console_views",
    "test_service_sessions_replay", "test_session_python", "test_compiled", "test_typescript", "test_service_attacks",
    "test_service_sessions", "test_service_templates", "test_service_sessions_sleep", "test_language_matrix",
    "test_image", "test_service_sessions_survive", "test_exact_node", "test_service_resilience", "test_warm_node",
    "test_service_sessions_checkpoints", "test_service_sessions_branches", "test_service_compiled",
    "test_layers_taken_away", "test_console_notebook", "test_door_e2b",
)


def is_alone(item):
    file = item.path.stem
    return file in ALONE or f"{file}::{item.originalname or item.name}" in ALONE


def pytest_ignore_collect(collection_path, config):
    """With `-m alone` (tests/run), files without such a test are not even read: that takes longer than most tests."""
    if config.option.markexpr == "alone" and collection_path.name.startswith("test_"):
        return collection_path.stem not in {name.partition("::")[0] for name in ALONE} or None
    return None


def left_out_under_asan(items):
    """The items that the group asan does not run."""
    cases = {}
    for item in items:
        if item.path.stem not in WHOLE_UNDER_ASAN:
            cases.setdefault((item.path, item.originalname or item.name), []).append(item)
    left_out = {item for same in cases.values() for item in same[1:-1]}
    return left_out | {item for item in items
                       if item.path.stem in NOT_UNDER_ASAN or item.get_closest_marker("release_only")}


def pytest_collection_modifyitems(config, items):
    rank = {file: i for i, file in enumerate(LONGEST)}
    items.sort(key=lambda item: rank.get(item.path.stem, len(rank)))
    for item in items:
        if is_alone(item):
            item.add_marker(pytest.mark.alone)
    if harness.ASAN:
        left_out = left_out_under_asan(items)
        config.hook.pytest_deselected(items=list(left_out))
        items[:] = [item for item in items if item not in left_out]
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
    """The host before the test. It is compared with the host when the test is over."""
    yield from compare_the_host(standing_by)


@pytest.fixture(scope="module")
def host_of_file(standing_by):
    """The same once a file. A file takes so long that other tests may use memory meanwhile."""
    yield from compare_the_host(standing_by, memory=False)


@pytest.fixture(autouse=True)
def host_unharmed_by_attacks(request):
    if "escape" in request.path.parts:
        request.getfixturevalue("host_of_file" if warm.WANTED else "host")


class Here:
    """The isolation of a run that asks for nothing special on this machine."""

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
    """A worker of several hands its lines to the one that prints, and removes the directories of its tests."""
    for path in harness.public_dirs:
        shutil.rmtree(path, ignore_errors=True)
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
    guest = Path(harness.BELLJAR).parent / "guest"
    shutil.copytree(guest, public_path / "guest", ignore=shutil.ignore_patterns("seed*"))
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
