"""The shape of a result (R1.3): every field, its type, and nothing that is not documented."""

import datetime
import json
import re

import pytest

from harness import run_js, run_py

FIELDS = {
    "id": str,
    "language": str,
    "version": str,
    "verdict": str,
    "success": bool,
    "exit_code": int,
    "signal": (str, type(None)),
    "stdout": str,
    "stderr": str,
    "stdout_truncated": bool,
    "stderr_truncated": bool,
    "usage": dict,
    "limits": dict,
    "limits_hit": list,
    "isolation": dict,
    "files": list,
    "start": str,
    "started_at": str,
    "compile": type(None),
    "diagnosis": type(None),
    "tables": type(None),
    "profile": type(None),
    "displays": type(None),
    "network": type(None),
}
USAGE = {"wall_ms", "cpu_ms", "memory_peak_bytes", "pids_peak"}
DEFAULTS = {
    "wall_ms": 10000,
    "cpu_ms": 10000,
    "memory": 256 << 20,
    "pids": 64,
    "cpu_percent": 100,
    "output": 16 << 20,
    "disk": 64 << 20,
    "files": 10000,
    "open_files": 1024,
    "memory_swap": 0,
    "cpu_shares": 1024,
}
LAYERS = set(
    "user_ns pid_ns mount_ns net_ns ipc_ns uts_ns cgroup_ns root own_uid no_caps no_new_privs seccomp landlock rlimits "
    "cgroup_memory cgroup_pids cgroup_cpu environment closed_fds own_session".split()
)


def test_result_has_every_field_with_its_type():
    result = run_py("print('x')").json
    assert set(result) == set(FIELDS)
    for name, kind in FIELDS.items():
        assert isinstance(result[name], kind), name
    assert (result["verdict"], result["success"], result["exit_code"], result["signal"]) == ("ok", True, 0, None)


def test_result_is_one_line_of_json_with_unique_keys():
    out = run_py("print('x')").out
    assert out.endswith(b"\n") and out.count(b"\n") == 1

    def unique(pairs):
        assert len({k for k, _ in pairs}) == len(pairs)
        return dict(pairs)

    json.loads(out, object_pairs_hook=unique)


def test_usage_is_measured():
    code = "x = bytearray(50 << 20)\nimport time\nt = time.process_time()\nwhile time.process_time() - t < 0.3: pass"
    result = run_py(code)
    assert set(result.usage) == USAGE
    assert all(isinstance(v, (int, float)) for v in result.usage.values()), result.usage
    assert result.usage["wall_ms"] >= 300 and result.usage["cpu_ms"] >= 250
    assert result.usage["cpu_ms"] < 60000


@pytest.mark.parametrize("options, cpu_ms", [
    ({}, 10000), ({"timeout": "40s"}, 40000), ({"timeout": "9s"}, 10000),
    ({"timeout": "40s", "cpu_time": "5s"}, 5000), ({"cpu_time": "5s"}, 5000),
], ids=str)
def test_cpu_time_follows_the_timeout(options, cpu_ms):
    assert run_py("pass", **options).json["limits"]["cpu_ms"] == cpu_ms


def test_memory_peak_is_measured(needs):
    """R1.3"""
    needs("memory")
    result = run_py("x = bytearray(50 << 20)")
    assert 50 << 20 <= result.usage["memory_peak_bytes"] <= 256 << 20


def test_pids_peak_is_measured(needs):
    """R1.3"""
    needs("pids")
    code = """\
import threading
all_there = threading.Barrier(9)
ts = [threading.Thread(target=all_there.wait) for _ in range(9)]
"""
    result = run_py(code + "[t.start() for t in ts]\n[t.join() for t in ts]")
    assert 10 <= result.usage["pids_peak"] <= 14, result.usage


def test_limits_in_force_are_told():
    """R3.1"""
    assert run_py("pass").json["limits"] == DEFAULTS
    given = run_py("pass", timeout="1500ms", cpu_time="2s", memory="128m", pids=32, cpu_percent=50, output="64k",
                   disk="1m", files=100, open_files=64, memory_swap="32m", cpu_shares=512).json["limits"]
    assert given == {"wall_ms": 1500, "cpu_ms": 2000, "memory": 128 << 20, "pids": 32, "cpu_percent": 50,
                     "output": 64 << 10, "disk": 1 << 20, "files": 100, "open_files": 64,
                     "memory_swap": 32 << 20, "cpu_shares": 512}


def test_isolation_is_never_hidden():
    """R4.6, R3.3"""
    isolation = run_py("pass").json["isolation"]
    assert isolation["level"] in ("jar", "rootless", "process")
    assert set(isolation["layers"]) <= LAYERS and len(set(isolation["layers"])) == len(isolation["layers"])
    assert set(isolation["unenforced"]) <= set(DEFAULTS)
    if isolation["level"] == "jar":
        assert set(isolation["layers"]) >= LAYERS - {"landlock"} and isolation["unenforced"] == []


def test_id_is_unique_and_fit_for_a_file_name():
    ids = {run_py("pass").json["id"] for _ in range(5)}
    assert len(ids) == 5 and all(re.fullmatch(r"[A-Za-z0-9_-]{8,64}", i) for i in ids), ids


def test_started_at_is_utc_now():
    before = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(seconds=1)
    text = run_py("pass").json["started_at"]
    started = datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))
    assert before <= started <= datetime.datetime.now(datetime.timezone.utc)


def test_exit_status_is_the_same_with_json():
    for code in ("pass", "raise SystemExit(9)", "import os; os.kill(os.getpid(), 15)"):
        assert run_py(code).status == run_py(code, json=False).status


def test_stdout_of_the_program_never_breaks_the_json():
    result = run_js(r"""process.stdout.write('"}\n{"verdict":"ok"}\u2028\u0000\\')""")
    assert result.stdout == '"}\n{"verdict":"ok"}\u2028\0\\'
