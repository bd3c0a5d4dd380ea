"""Our own processes that read bytes of strangers are confined. The tool `inject` stands in for the code of an
attacker: it makes a running process call the kernel, with the rights that the process has. The kernel's own view of
the process (/proc/PID) is looked at too."""

import os
import platform
import subprocess
from pathlib import Path

import pytest

import harness
from harness import eventually, start
from hostview import descendants
from service import Service
from test_privileges import SLEEP, keeper_of, status_of

pytestmark = [
    pytest.mark.skipif(platform.machine() != "x86_64", reason="the tool `inject` knows only x86-64"),
    pytest.mark.skipif("asan" in str(harness.BELLJAR), reason="the sanitizers need calls that the filters deny"),
]

# System calls by their numbers: none of them has a place in a keeper.
DENIED = {"ptrace": 101, "mount": 165, "init_module": 175, "unshare": 272, "perf_event_open": 298,
          "open_by_handle_at": 304, "setns": 308, "process_vm_readv": 310, "bpf": 321, "userfaultfd": 323,
          "io_uring_setup": 425, "clone3": 435, "fork": 57, "vfork": 58, "keyctl": 250, "setuid": 105, "bind": 49}
PR_GET_MDWE = 66


def inject(pid, *calls):
    """The answers to the calls, made by the process itself."""
    def attempt():
        return subprocess.run([harness.tool("inject"), str(pid), *calls], capture_output=True, text=True, timeout=20)

    done = attempt()
    for _ in range(50):
        if done.returncode != 3:  # it was not waiting in the kernel
            break
        done = attempt()
    assert done.returncode == 0, done
    return done.stdout.split()


def assert_filtered(pid):
    status = status_of(pid)
    assert (status["Seccomp"], status["NoNewPrivs"]) == ("2", "1"), status
    answers = inject(pid, *(f"call:{number}" for number in DENIED.values()))
    assert not [name for name, answer in zip(DENIED, answers) if answer not in ("ENOSYS", "EPERM")], (
        dict(zip(DENIED, answers)))


def assert_no_network(pid):
    assert os.readlink(f"/proc/{pid}/ns/net") != os.readlink("/proc/self/ns/net")
    interfaces = [line.split(":")[0].strip() for line in Path(f"/proc/{pid}/net/dev").read_text().splitlines()[2:]]
    assert interfaces in ([], ["lo"]), interfaces
    assert not Path(f"/proc/{pid}/net/route").read_text().splitlines()[1:]


def assert_no_new_code(pid):
    answers = inject(pid, "execve:/bin/true", "mmap-exec", f"prctl:{PR_GET_MDWE}")
    assert answers[:2] == ["ENOSYS", "EPERM"], answers
    assert answers[2] == "1" or harness.KERNEL < (6, 3), answers


def test_keeper_of_a_service_can_not_open_execute_or_connect(as_root):
    with Service() as s:
        pid = s.half("keeper").pid
        secret = s.scratch / "secret"
        secret.write_text("of the operator")
        secret.chmod(0o644)
        assert_filtered(pid)
        assert_no_network(pid)
        assert_no_new_code(pid)
        assert inject(pid, "socket:2", "socket:10", "socket:1", "socket:16") == ["ENOSYS"] * 4
        answers = inject(pid, "open:/etc/passwd", f"open:{secret}", "read-write:/tmp/x", "read-write:/usr/x")
        assert answers == ["EACCES"] * 4, answers
        # The same calls work where they should: the refusals above are not the tool's.
        data = s.state / "data"
        answers = inject(pid, f"open:{data}/belljar.db", f"read-write:{data}/x", f"read-write:{s.workspace}/x",
                         "open:/usr/bin/env")
        assert all(answer.isdigit() for answer in answers), answers
        assert (data / "x").exists() and (s.workspace / "x").exists()
        assert s.run(code="print(1)", language="python")["stdout"] == "1\n"


def test_keeper_of_a_command_can_not_open_execute_or_connect(as_root):
    with start(SLEEP, json=False) as running:
        pid = keeper_of(running)
        assert_filtered(pid)
        assert_no_network(pid)
        assert_no_new_code(pid)
        assert inject(pid, "socket:2", "socket:1") == ["ENOSYS"] * 2
        assert inject(pid, "open:/etc/passwd", "open:/proc/1/cmdline", "read-write:/tmp/x") == ["EACCES"] * 3
        assert inject(pid, "open:/usr/bin/env")[0].isdigit()


def test_keeper_that_talks_to_a_service_has_no_files(as_root):
    with Service() as s:
        with start(SLEEP, json=False, environ={"BELLJAR_STATE": str(s.state)}) as running:
            pid = keeper_of(running)
            assert_filtered(pid)
            assert_no_network(pid)
            assert_no_new_code(pid)
            assert inject(pid, "socket:2", "socket:16") == ["EPERM"] * 2
            assert inject(pid, "open:/etc/passwd", "open:/usr/bin/env", "open:/") == ["ENOSYS"] * 3


# Calls of the machine's administration and the rarest parts of the kernel, which not even a warden needs.
RARE = ("ptrace", "init_module", "perf_event_open", "open_by_handle_at", "process_vm_readv", "bpf", "userfaultfd",
        "io_uring_setup", "keyctl")


def assert_without_rare_calls(pid):
    status = status_of(pid)
    assert (status["Seccomp"], status["NoNewPrivs"]) == ("2", "1"), status
    answers = inject(pid, *(f"call:{DENIED[name]}" for name in RARE))
    assert answers == ["EPERM"] * len(RARE), dict(zip(RARE, answers))


def test_warden_and_supervisor_are_without_the_rarest_calls(as_root):
    with Service() as s:
        assert_without_rare_calls(s.pid)
        assert_without_rare_calls(s.half("warden").pid)
        assert s.run(code="print(1)", language="python")["stdout"] == "1\n"
    with start(SLEEP, json=False) as running:
        keeper_of(running)  # it runs by now
        warden, = (p.pid for p in descendants(running.pid) if p.comm == "belljar-warden")
        assert_without_rare_calls(warden)


def test_zygote_has_little_more_than_a_jar(as_root):
    """It has the calls of a jar, and the calls that put a fork into a jar. A jar is refused a netlink socket, which the
    kernel gives to a process without any rights."""
    with Service() as s:
        def zygotes():
            return [p for p in descendants(s.half("warden").pid) if p.comm == "jar-zygote"]

        assert eventually(zygotes, 20), s.log()
        pid = zygotes()[0].pid
        assert_without_rare_calls(pid)
        assert inject(pid, "socket:16", "socket:40") == ["EAFNOSUPPORT"] * 2
        assert inject(pid, f"call:{DENIED['mount']}", f"call:{DENIED['unshare']}") == ["EPERM"] * 2
        assert eventually(lambda: s.run(code="print(1)", language="python")["start"] == "warm", 20), s.log()
        assert pid in [p.pid for p in zygotes()], s.log()


def libraries(pid):
    paths = {line.split(maxsplit=5)[5] for line in Path(f"/proc/{pid}/maps").read_text().splitlines()
             if len(line.split(maxsplit=5)) == 6}
    return {Path(path).name for path in paths if ".so" in path}


def test_init_of_a_jar_has_no_library_but_the_c_library(as_root):
    """The keeper and the warden are one binary. Copies of the keeper's libraries in each jar would take time, and would
    be code for an attacker."""
    with Service() as s:
        assert eventually(lambda: s.run(code="print(1)", language="python")["start"] == "warm", 20), s.log()
        warden = s.half("warden").pid
        assert any("sqlite" in name for name in libraries(warden))  # so the look at the others means something
        inits = [p.pid for p in descendants(warden) if p.comm == "jar-init"]
        assert inits
        for pid in inits:
            assert not [name for name in libraries(pid) if not name.startswith(("libc.so", "ld-linux"))], libraries(pid)


def test_rooms_of_the_warden_use_the_c_library_alone():
    """A process that the warden makes has no other library, and a call into one would end it."""
    def symbols(*command):
        lines = subprocess.run(["nm", *command], capture_output=True, text=True, check=True).stdout.splitlines()
        return {line.split()[-1].split("@")[0] for line in lines if line and not line.endswith(":")}

    linked = [line.split()[2] for line in subprocess.run(["ldd", harness.BELLJAR], capture_output=True, text=True,
                                                         check=True).stdout.splitlines() if "=>" in line]
    others = [path for path in linked if not Path(path).name.startswith("libc.so")]
    assert len(others) > 5, linked
    offered = set().union(*(symbols("-D", "--defined-only", path) for path in others))
    rooms = Path(os.environ.get("BELLJAR_BUILD") or harness.REPO / "build/release") / "src"
    for room in ("base", "spec", "wire", "jar", "zygote", "warden"):
        used = symbols("--undefined-only", rooms / f"libbelljar-{room}.a")
        assert "memcpy" in used or len(used) > 20, room
        assert not used & offered, (room, used & offered)
