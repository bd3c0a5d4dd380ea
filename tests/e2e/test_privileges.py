"""The privileges of each process of a run: the keeper has none, the guest is never root, and signals that the caller
ignores stay ignored."""

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from harness import BELLJAR, PATIENCE, belljar, run_py, run_sh, start, wait_readable

SLEEP = "print('go', flush=True)\nimport time\ntime.sleep(30)"


def status_of(pid):
    return dict(line.split(":\t", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines() if ":\t" in line)


def keeper_of(running):
    """The child of the command that has given up its privileges, as it does before the program can say anything."""
    assert running.read_line() == "go"
    children = Path(f"/proc/{running.pid}/task/{running.pid}/children").read_text().split()
    keeper, = (child for child in children if status_of(child)["Name"] == "belljar-keeper")
    return int(keeper)


def test_keeper_has_no_privileges_and_no_terminal(as_root):
    """ARCHITECTURE: own uid, no capability in any set, no_new_privs, own session"""
    with start(SLEEP, json=False) as running:
        keeper = keeper_of(running)
        status = status_of(keeper)
        uid, = set(status["Uid"].split())
        assert int(uid) > 0x70000000, uid
        assert {status[f"Cap{s}"] for s in ("Inh", "Prm", "Eff", "Bnd", "Amb")} == {"0" * 16}, status
        assert os.getsid(keeper) == keeper != os.getsid(running.pid)


def test_keeper_holds_no_file_of_the_host(as_root):
    with start(SLEEP, json=False) as running:
        keeper = keeper_of(running)
        held = [os.readlink(f"/proc/{keeper}/fd/{n}") for n in os.listdir(f"/proc/{keeper}/fd") if int(n) > 2]
        assert held and not [path for path in held if path.startswith("/") and not path.startswith("/memfd:")], held


def test_root_without_uids_to_give_runs_nothing(as_root):
    """A guest never has uid 0 of the host, at no level: better no run."""
    if subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode != 0:
        pytest.skip("no mount namespace of our own to hide /run in")
    for level in ("auto", "jar", "rootless", "process"):
        script = f"mount -t tmpfs -o ro none /run && exec {BELLJAR} run --isolation {level} -l python -"
        done = subprocess.run(["unshare", "-m", "sh", "-c", script], input=b"print('STARTED')", capture_output=True,
                              timeout=30)
        assert done.returncode == 125 and b"STARTED" not in done.stdout, (level, done)
        assert b"/run/belljar" in done.stderr, (level, done)


def test_status_is_right_though_the_caller_ignores_sigchld():
    done = subprocess.run(["python3", "-c", f"""
import os, signal
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
os.execv({BELLJAR!r}, ["belljar", "run", "-l", "bash", "-"])"""], input=b"exit 3", capture_output=True, timeout=30)
    assert done.returncode == 3, done


def test_hangup_is_ignored_where_the_caller_ignores_it():
    """nohup"""
    argv = ["sh", "-c", f"trap '' HUP; exec {BELLJAR} run -l bash -"]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as p:
        p.stdin.write(b"echo go; sleep 1; echo end; exit 7")
        p.stdin.close()
        assert p.stdout.readline() == b"go\n"
        p.send_signal(signal.SIGHUP)
        assert p.stdout.read() == b"end\n" and p.wait(20) == 7


def test_program_may_come_from_a_descriptor_of_the_callers():
    """belljar run <(echo …)"""
    done = subprocess.run(["bash", "-c", f"{BELLJAR} run -l bash <(echo 'echo from a pipe')"], capture_output=True,
                          timeout=30)
    assert (done.returncode, done.stdout) == (0, b"from a pipe\n"), done


def test_output_that_cannot_be_written_is_no_success():
    for args in (["--json"], []):
        with open("/dev/full", "wb") as full:
            done = subprocess.run([BELLJAR, "run", *args, "-l", "bash", "-"], input=b"echo x", stdout=full,
                                  stderr=subprocess.PIPE, timeout=30)
        assert done.returncode == 125 and b"No space left" in done.stderr, (args, done)


def test_ending_a_run_whose_output_nobody_reads_is_quick():
    reader, writer = os.pipe()
    argv = [BELLJAR, "run", "--timeout", "100s", "-l", "bash", "-"]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=writer, stderr=subprocess.DEVNULL) as p:
        os.close(writer)
        p.stdin.write(b"yes")
        p.stdin.close()
        assert wait_readable(reader, 30 * PATIENCE)
        time.sleep(1)  # until the pipes are full
        began = time.monotonic()
        p.terminate()
        assert p.wait(60) == 130 and time.monotonic() - began < 10 * PATIENCE
    os.close(reader)


def test_more_outputs_than_can_be_fetched_are_refused():
    outs = [arg for n in range(1001) for arg in ("--out", f"f{n}")]
    result = belljar("run", *outs, "-l", "bash", "-", stdin=b"echo STARTED")
    assert result.status == 64 and "1000" in result.message and b"STARTED" not in result.out, result


def test_writable_root_is_refused_where_there_is_no_root_to_write():
    result = run_sh("echo STARTED", isolation="process", writable_root=True, json=False)
    assert result.status == 125 and "writable root" in result.message and b"STARTED" not in result.out, result


def test_smallest_limits_still_start_a_program(sealed):
    for limits in ({"open_files": 8}, {"files": 16}, {"files": 16, "writable_root": True}, {"pids": 1},
                   {"memory": "8m"}, {"disk": "64k"}):
        result = run_sh("echo ok", **limits)
        assert (result.verdict, result.stdout) == ("ok", "ok\n"), (limits, result)


def test_looks_of_the_warden_go_before_other_processes(as_root):
    """On a busy machine too, and no guest has a part in that. A niceness of the caller is for the guest as well."""
    ask = "import os\nprint('go', os.nice(0), flush=True)\nimport time\ntime.sleep(30)"
    for prefix, line, nice in (((), "go 0", -10), (("nice", "-n", "5"), "go 5", 5)):
        with start(ask, json=False, prefix=prefix) as running:
            assert running.read_line() == line
            children = Path(f"/proc/{running.pid}/task/{running.pid}/children").read_text().split()
            warden, = (int(child) for child in children if status_of(child)["Name"] == "belljar-warden")
            assert os.getpriority(os.PRIO_PROCESS, warden) == nice, prefix


def test_run_of_a_caller_with_a_real_time_policy(as_root):
    """No cgroup of a jar takes a process with such a policy."""
    result = run_py("import os\nprint(os.sched_getscheduler(0) == os.SCHED_OTHER)", prefix=("chrt", "-r", "1"))
    assert (result.verdict, result.stdout) == ("ok", "True\n"), result
