"""Fixtures of the end-to-end and escape tests.

tests/escape checks around every test that the host is unharmed; other tests ask for `host` where they mean it.
"""

import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(__file__))

import pytest

import harness
import hostview
import service as service_harness

# A service of the user's own is nobody's business here: `belljar run` finds none unless a test says where.
os.environ["BELLJAR_STATE"] = "/nonexistent/belljar"


def pytest_collection_modifyitems(items):
    if items and not os.access(harness.BELLJAR, os.X_OK):
        pytest.exit(f"{harness.BELLJAR} is not there: run `make build`, or set BELLJAR", returncode=3)
    for item in items if harness.SLACK_MS > 2000 else ():
        # What HTTP and SQLite do does not depend on the kernel; what the service does with jars is shown by these.
        if item.path.stem.startswith("test_service_") and item.path.stem not in ("test_service_runs", "test_service_verdicts"):
            item.add_marker(pytest.mark.skip(reason="too slow for an emulated machine"))


@pytest.fixture
def host():
    """What the host looked like before; compared when the test is over."""
    before = hostview.Host()
    assert before.memory_peak
    yield before
    hostview.assert_unharmed(before)


@pytest.fixture(autouse=True)
def host_unharmed_by_attacks(request):
    if "escape" in request.path.parts:
        request.getfixturevalue("host")


class Here:
    """What this machine offers to a run that asks for nothing special."""

    def __init__(self, isolation):
        self.level = isolation["level"]
        self.layers = set(isolation["layers"])
        self.unenforced = set(isolation["unenforced"])

    def enforces(self, limit):
        return limit not in self.unenforced


@pytest.fixture(scope="session")
def here():
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


@pytest.fixture
def public_path():
    """A directory every user can read, gone after the test."""
    import shutil

    path = harness.public_dir()
    yield path
    shutil.rmtree(path, ignore_errors=True)


@pytest.fixture
def belljar_for_everybody(public_path, monkeypatch):
    """The binary where an ordinary user can reach it, too."""
    import shutil

    copy = public_path / "belljar"
    shutil.copy(harness.BELLJAR, copy)
    copy.chmod(0o755)
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


@pytest.fixture
def start_service():
    """start_service("--set", "runs.max=2"): services with options of their own; all end with the test."""
    from contextlib import ExitStack

    with ExitStack() as stack:
        yield lambda *options, **how: stack.enter_context(service_harness.Service(*options, **how))
