"""Core dumps: none is written, inside or out, and none is piped to a program of the host."""

import os

from harness import attack, run_sh


def test_crash_leaves_no_core():
    result = run_sh("ulimit -c unlimited 2>/dev/null; ulimit -c; bash -c 'kill -SEGV $$'; bash -c 'kill -ABRT $$'; ls; "
                    "kill -SEGV $$",
                    within=30)
    assert result.stdout.split()[0] == "0", result
    assert "core" not in result.stdout.split()[1:] and result.json["signal"] == "SIGSEGV", result


def test_core_limit_spares_the_hosts_handler_and_cannot_be_changed():
    """core(5): a handler that core_pattern pipes to is started at 0, and not at 1"""
    found, _ = attack("""
import resource
found["core"] = resource.getrlimit(resource.RLIMIT_CORE)
try: resource.setrlimit(resource.RLIMIT_CORE, (0, 0)); found["changed"] = True
except (OSError, ValueError): found["changed"] = False
""")
    assert found == {"core": [1, 1], "changed": False}


def test_host_directory_gets_no_core(public_path):
    before = set(os.listdir(public_path))
    result = run_sh("kill -SEGV $$", cwd=public_path)
    assert result.json["signal"] == "SIGSEGV" and set(os.listdir(public_path)) == before
