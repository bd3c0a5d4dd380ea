"""`belljar bench`: the table, the JSON, the plot, and that nothing of it stays."""

import json
import os
import signal
import subprocess
import xml.etree.ElementTree as ET

import pytest

import harness
from harness import PATIENCE, belljar, eventually


def bench(*args, tmp):
    env = {**os.environ, "TMPDIR": str(tmp), "BELLJAR_TEST_MARK": harness.MARK}
    return subprocess.run([harness.BELLJAR, "bench", "--quick", *args], capture_output=True, text=True, env=env,
                          timeout=120 * PATIENCE)


@pytest.fixture
def tmp(tmp_path):
    """Where its services' state is, which the keeper must be able to reach."""
    place = harness.public_dir()
    yield place
    assert not list(place.glob("bench-belljar.*")), "the benchmark left its directory"
    place.rmdir()


@pytest.mark.release_only  # measures, and other tests run the same code
def test_table_json_and_plot_say_the_same(tmp, tmp_path):
    done = bench("burst", "memory", "--json", str(tmp_path / "b.json"), "--svg", str(tmp_path / "b.svg"), tmp=tmp)
    assert done.returncode in (0, 1), done
    report = json.loads((tmp_path / "b.json").read_text())
    assert report["quick"] is True and report["machine"]["cpus"] >= 1
    burst = next(s for s in report["sections"] if "burst" in s["title"])
    row = next(r for r in burst["series"] if r["name"] == "each of 100 at once")
    assert row["n"] == 200 and 0 < row["p50_ms"] <= row["p99_ms"] <= row["max_ms"]
    line = next(l for l in done.stdout.splitlines() if row["name"] in l)
    assert f"{row['p50_ms']:.2f}" in line and f"{row['p99_ms']:.2f}" in line
    budgets = {b["key"]: b for b in report["budgets"]}
    assert budgets["burst_unanswered"]["verdict"] == "pass"
    assert budgets["python_over_bare"]["verdict"] == "not measured"
    assert all(b["name"] in done.stdout for b in budgets.values())
    assert (done.returncode == 1) == any(b["verdict"] == "MISS" for b in budgets.values())
    assert ET.parse(tmp_path / "b.svg").getroot().tag == "{http://www.w3.org/2000/svg}svg"


@pytest.mark.release_only  # measures, and other tests run the same code
def test_small_requests_are_measured_beside_large_ones(tmp, tmp_path):
    done = bench("large", "--json", str(tmp_path / "b.json"), tmp=tmp)
    assert done.returncode in (0, 1), done
    report = json.loads((tmp_path / "b.json").read_text())
    rows = report["sections"][0]["series"]
    assert [r["name"] for r in rows] == ["no such client", "a run with a file", "a batch of 100", "a comparison of 5",
                                         "an artifact"]
    assert all(r["n"] > 0 and 0 < r["p50_ms"] <= r["p99_ms"] for r in rows), rows
    budget, = (b for b in report["budgets"] if b["key"] == "health_beside_large_ms")
    assert abs(budget["value"] - max(r["p99_ms"] for r in rows)) < 0.01, (budget, rows)


@pytest.mark.release_only  # measures, and other tests run the same code
def test_contenders_that_do_not_work_here_are_named_with_the_reason(tmp, tmp_path):
    env = {"PATH": "/nowhere", "TMPDIR": str(tmp), "BELLJAR_TEST_MARK": harness.MARK}
    done = subprocess.run([harness.BELLJAR, "bench", "--quick", "latency", "--json", str(tmp_path / "b.json"),
                           "--svg", str(tmp_path / "b.svg")], capture_output=True, text=True, env=env,
                          timeout=120 * PATIENCE)
    assert done.returncode in (0, 1), done
    for name in ("bubblewrap", "docker run", "docker exec", "runsc (gVisor)", "firejail"):
        assert f"left out: {name}: not installed" in done.stdout, done.stdout
    report = json.loads((tmp_path / "b.json").read_text())
    names = [r["name"] for r in report["sections"][0]["series"]]
    assert names[:2] == ["bare interpreter", "belljar, HTTP, warm"] and "belljar run, no service" in names
    assert all(r["ratio"]["of_medians"] > 0 for r in report["sections"][0]["series"])
    bars = [t.text for t in ET.parse(tmp_path / "b.svg").getroot().iter("{http://www.w3.org/2000/svg}text")]
    assert "bare interpreter" in bars and "belljar, HTTP, warm" in bars


@pytest.mark.release_only  # measures, and other tests run the same code
@pytest.mark.skipif(not harness.SOAK, reason="takes 90 s: tests/run --only soak")
def test_sessions_are_measured_beside_what_others_do(tmp, tmp_path):
    done = bench("sessions", "--json", str(tmp_path / "b.json"), tmp=tmp)
    assert done.returncode in (0, 1), done
    report = json.loads((tmp_path / "b.json").read_text())
    budgets = {b["key"]: b for b in report["budgets"]}
    kernel = {"ipykernel_over_session", "ipykernel_start_over_session"}
    ours = {"session_ms", "session_start_ms", "session_python_mib", "session_data_mib", "session_node_mib",
            "sessions_unanswered", "sessions_busy_over_alone", "session_plot_over_bare"}
    absent = [why for why in report.get("skipped", []) if why.startswith("ipykernel: ")]
    for key in ours | (set() if absent else kernel):
        assert budgets[key]["verdict"] in ("pass", "MISS"), (key, done.stdout)
        assert budgets[key]["value"] > 0 or key == "sessions_unanswered"
    assert budgets["sessions_unanswered"]["value"] == 0
    assert not absent or all(budgets[key]["verdict"] == "not measured" for key in kernel)
    rows = {row["name"]: row for section in report["sections"] for row in section["series"]}
    assert rows["belljar, HTTP"]["n"] == rows["/v1/health"]["n"] == 60
    one = rows["one session alone, 20 cells a second"]["n"]
    assert rows["each of the busy ones, 20 cells a second"]["n"] == 8 * one


@pytest.mark.parametrize("number", (signal.SIGINT, signal.SIGTERM))
def test_interrupted_it_leaves_no_service_and_no_file(tmp, number):
    env = {**os.environ, "TMPDIR": str(tmp), "BELLJAR_TEST_MARK": harness.MARK}
    running = subprocess.Popen([harness.BELLJAR, "bench", "throughput"], stdout=subprocess.DEVNULL, env=env)
    try:
        services = eventually(lambda: [p for p in processes() if f"{tmp}/" in p[1] and "serve" in p[1]], 20)
        assert services
        running.send_signal(number)
        assert running.wait(40 * PATIENCE) == 128 + number
        assert not [p for p in processes() if f"{tmp}/" in p[1]]
    finally:
        running.kill()
        running.wait()


def processes():
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as f:
                yield int(pid), f.read().replace(b"\0", b" ").decode("utf-8", "replace")
        except OSError:
            pass


def test_part_that_is_not_there_is_refused_before_anything_starts(tmp):
    refused = bench("latenzy", tmp=tmp)
    assert refused.returncode == 64 and refused.stdout == ""
    start = "belljar: there is no part 'latenzy': the parts are latency, throughput, "
    assert refused.stderr.startswith(start), refused.stderr
    text = belljar("bench", "--help").out.decode()
    assert all(word in text for word in ("latency", "throughput", "history", "--quick", "--json", "--svg"))
