"""libbelljar.so: tests/library/library_probe.c uses all of it, in a private service and over a socket. The program
itself asserts; here it is started, killed, and compiled as C++."""

import os
import re
import signal
import socket
import subprocess
import threading
from pathlib import Path

import pytest

import harness
from harness import PATIENCE, REPO, belljar, eventually
from hostview import descendants, processes

BUILD = Path(os.environ.get("BELLJAR_BUILD") or Path(__file__).resolve().parents[2] / "build/release")
PROBE = BUILD / "tests/library/library_probe"
UNAUTHORIZED, UNAVAILABLE, PROTOCOL = "7 ", "11 ", "13 "


def environment():
    return {**os.environ, "BELLJAR": harness.BELLJAR, "BELLJAR_TEST_MARK": harness.MARK}


def probe(*args, program=PROBE, within=120, env=None):
    return subprocess.run([program, *args], capture_output=True, text=True, timeout=within * PATIENCE,
                          env={**environment(), **(env or {})})


class Staying:
    """A probe with a private service and a run, until it is told or killed."""

    def __init__(self, *args):
        self.popen = subprocess.Popen([PROBE, *args], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                      env=environment())
        self.socket = Path(self.popen.stdout.readline().strip())
        assert self.socket.is_socket(), self.socket

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.popen.kill()
        self.popen.wait()
        self.popen.stdin.close()
        self.popen.stdout.close()


def gone(family):
    """Whether all of them are dead, or will be soon. A zombie waits for its new parent, the test itself."""
    def alive():
        now = processes()
        return [p for p in family if p.pid in now and now[p.pid].start == p.start and now[p.pid].state != "Z"]

    return eventually(lambda: not alive(), 20)


def test_every_call_of_the_library_works_in_a_private_service():
    done = probe("all")
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_call_of_the_library_works_over_http_with_a_key(service):
    key = service.add_key("library", "run,read")
    address = f"http://127.0.0.1:{service.port}"
    if not harness.ASAN:  # the sanitizers watch the same calls above
        done = probe("all", address, key)
        assert done.returncode == 0, done.stdout + done.stderr
    # over the unix socket no key is needed, over TCP it is
    assert probe("open", str(service.state / "belljar.sock")).stdout == "opened\n"
    for refused in (probe("open", address), probe("open", address, "wrong")):
        assert refused.returncode == 1 and refused.stdout.startswith(UNAUTHORIZED), refused


def test_an_address_without_a_service_is_an_error_of_the_library():
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"http://127.0.0.1:{server.getsockname()[1]}"

        def answer():
            peer, _ = server.accept()
            with peer:
                peer.recv(4096)
                peer.sendall(b"SSH-2.0-none\r\n")

        thread = threading.Thread(target=answer)
        thread.start()
        other = probe("open", address)
        thread.join()
    assert other.stdout.startswith(PROTOCOL) and "not HTTP" in other.stdout, other
    nobody = probe("open", address)
    assert nobody.stdout.startswith(UNAVAILABLE) and "refused" in nobody.stdout, nobody


def ends_with_its_program(way):
    with Staying("fork" if way == "killed with a fork" else "stay") as it:
        children = descendants(it.popen.pid)[1:]
        family = [p for p in children if p.exe != str(PROBE)]
        forks = [p for p in children if p not in family]
        assert len(family) >= 3 and len(forks) == (way == "killed with a fork"), children
        assert (it.socket.stat().st_mode & 0o777) == 0o600
        if way == "closed":
            it.popen.communicate("\n", timeout=60 * PATIENCE)
            assert it.popen.returncode == 0 and not it.socket.parent.exists()
        else:
            it.popen.kill()
        try:
            assert gone(family), (way, family)
            assert eventually(lambda: not it.socket.parent.exists(), 20), way
        finally:
            for p in forks:
                os.kill(p.pid, signal.SIGKILL)


def test_a_private_service_ends_with_the_program_that_opened_it(host):
    for way in ("closed", "killed", "killed with a fork"):
        ends_with_its_program(way)


def test_a_private_service_with_a_state_directory_keeps_it(public_path):
    state = public_path / "state"
    with Staying("stay", str(state)) as it:
        assert it.socket == state / "belljar.sock"
        other = belljar("serve", "--state", str(state), "--listen", "127.0.0.1:0")
        assert other.status != 0 and b"pid" in other.err, other
        it.popen.communicate("\n", timeout=60 * PATIENCE)
    assert it.popen.returncode == 0 and not it.socket.exists()
    assert (state / "data" / "belljar.db").exists()


def test_a_private_service_that_dies_in_a_run_is_an_error_of_that_run():
    with subprocess.Popen([PROBE, "run"], stdout=subprocess.PIPE, text=True, env=environment()) as it:
        assert it.stdout.readline().startswith("run_")
        family = descendants(it.pid)[1:]
        os.kill(next(p.pid for p in family if p.ppid == it.pid), signal.SIGKILL)
        told = it.stdout.read().splitlines()
        assert it.wait(60 * PATIENCE) == 0
    assert len(told) == 2 and all(line.startswith(UNAVAILABLE) for line in told), told
    assert gone(family), family


@pytest.mark.parametrize("fd, word", [("x", "not a descriptor"), ("1", "from 3"), ("99", "not a stream socket")])
def test_a_lifeline_that_is_no_socket_is_refused(fd, word):
    r = belljar("serve", "--lifeline", fd)
    assert r.status == 64 and word in r.err.decode(), r


@pytest.mark.release_only
def test_the_library_exports_exactly_the_functions_of_its_header():
    header = re.sub(r"/\*.*?\*/", "", (REPO / "include/belljar.h").read_text(), flags=re.S)
    declared = set(re.findall(r"\b(belljar_\w+)\(", header))
    listed = set(re.findall(r"^ +(belljar_\w+);", (REPO / "src/library/belljar.map").read_text(), re.M))
    shown = subprocess.run(["nm", "-D", "--defined-only", BUILD / "src/libbelljar.so"], capture_output=True, text=True,
                           check=True).stdout
    exported = {line.split()[2] for line in shown.splitlines()}
    assert exported == {f"{name}@@BELLJAR_0" for name in declared} | {"BELLJAR_0"}
    assert listed == declared
    dynamic = subprocess.run(["readelf", "-d", BUILD / "src/libbelljar.so"], capture_output=True, text=True, check=True)
    assert "[libbelljar.so.0]" in dynamic.stdout
