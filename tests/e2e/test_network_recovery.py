"""A porter that dies or hangs: runs with a network wait for the next one, and other runs do not notice (R4.2)."""

import ctypes
import os
import signal

import pytest

from harness import ROOT, eventually
from service import Service
from world import PRIVATE, WORLD, World

pytestmark = pytest.mark.skipif(not ROOT, reason="it takes root to make the namespaces of the test")

FETCH = """
import socket
with socket.create_connection(("web.example.org", 80), 30) as s:
    print(s.recv(5).decode())
"""
PTRACE_SEIZE, PTRACE_INTERRUPT, WALL = 0x4206, 0x4207, 0x40000000


@pytest.fixture(scope="module")
def world():
    with World() as w:
        w.say(80, b"hello")
        w.name("web.example.org", WORLD)
        yield w


@pytest.fixture(scope="module")
def service(world):
    with Service("--set", "network.max=web.example.org:80", "--set", f"network.private={PRIVATE}",
                 prefix=world.prefix()) as s:
        yield s


def fetch(service, code=FETCH):
    return service.run(code, unix=True, network={"allow": ["web.example.org:80"]})


class Frozen:
    """A process that does nothing at all. Its parent does not see it stop, as it would after a signal."""

    def __init__(self, pid):
        self.pid, self.libc = pid, ctypes.CDLL(None, use_errno=True)
        for request in (PTRACE_SEIZE, PTRACE_INTERRUPT):
            if self.libc.ptrace(request, pid, None, None) < 0:
                pytest.skip("this machine allows no ptrace")
        os.waitpid(pid, WALL)

    def await_death(self):
        """A process that is traced is dead for its parent after its tracer has seen it."""
        while not os.WIFSIGNALED(os.waitpid(self.pid, WALL)[1]):
            pass


def test_silent_porter_is_replaced_and_runs_without_a_network_do_not_notice(service):
    porter = service.half("porter").pid
    frozen = Frozen(porter)
    plain = service.run("print(1)", unix=True)
    assert plain["verdict"] == "ok" and plain["stdout"] == "1\n", plain
    r = fetch(service, "print(2)")
    assert (r["verdict"], r["stdout"], r["network"]["complete"]) == ("ok", "2\n", False), r
    frozen.await_death()
    assert service.logged("porter.ended", within=20)
    r = fetch(service)  # it waits for the next porter
    assert (r["verdict"], r["stdout"]) == ("ok", "hello\n"), r
    assert eventually(lambda: service.half("porter").pid != porter, 20)


def test_run_waits_for_the_next_porter(service):
    """The first starts come at once, the later ones after a pause."""
    for _ in range(4):
        dead = service.half("porter").pid
        os.kill(dead, signal.SIGKILL)
        assert eventually(lambda: not os.path.exists(f"/proc/{dead}"), 20)
        r = fetch(service)
        assert (r["verdict"], r["stdout"]) == ("ok", "hello\n"), r
