#!/usr/bin/python3
"""The load that the service can take:   bench/service.py [--quick] [PART...]

Parts: health, idle, in_a_row, overload, crashes (default: all, in this order). Each prints
its budgets and results; the exit status is 1 if a budget was missed. Everything is on loopback, in a state
directory of its own.
"""

import argparse
import asyncio
import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

REPO = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(REPO / "tests/lib"))
sys.dont_write_bytecode = True

import hostview  # noqa: E402
from harness import MARK  # noqa: E402

BELLJAR = str(REPO / "build" / "belljar")
HELLO = {"language": "bash", "code": "echo hello"}
WORK = {"language": "python", "code": "print(1)"}  # takes a CPU for a while, as most programs do
missed = []


def say(text):
    print(text, flush=True)


def judge(what, holds, measured):
    say(f"  {'reached' if holds else 'MISSED '}  {what}: {measured}")
    if not holds:
        missed.append(what)


# --- the service ------------------------------------------------------------------------------


class Service:
    def __init__(self, *settings, command=()):
        self.state = tempfile.mkdtemp(prefix="bench-belljar.")
        os.chmod(self.state, 0o755)
        self.log = open(os.path.join(self.state, "log"), "wb")
        argv = [*command, BELLJAR, "serve", "--state", os.path.join(self.state, "state"), "--listen", "127.0.0.1:0"]
        for s in settings:
            argv += ["--set", s]
        env = {"PATH": os.environ["PATH"], "OUTPUT_DATA_PATH": os.path.join(self.state, "files"),
               "BELLJAR_TEST_MARK": MARK}
        self.popen = subprocess.Popen(argv, stderr=self.log, stdin=subprocess.DEVNULL, env=env, start_new_session=True)
        self.port = self.await_ready()

    def logged(self):
        return pathlib.Path(self.state, "log").read_text(errors="replace")

    def await_ready(self):
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline and self.popen.poll() is None:
            ready = re.search(r"service\.ready .*?127\.0\.0\.1:(\d+)", self.logged())
            if ready:
                return int(ready[1])
            time.sleep(0.02)
        raise SystemExit(f"the service does not start:\n{self.logged()}")

    def half(self, which):
        """pid of the keeper or the warden."""
        for p in hostview.processes().values():
            if p.ppid == self.popen.pid and (p.comm == "belljar-warden") == (which == "warden"):
                return p.pid
        return None

    def rss_kib(self, pid):
        return int(re.search(r"VmRSS:\s+(\d+)", pathlib.Path(f"/proc/{pid}/status").read_text())[1])

    def fds(self, pid):
        return len(os.listdir(f"/proc/{pid}/fd"))

    def stop(self):
        if self.popen.poll() is None:
            self.popen.send_signal(signal.SIGTERM)
            try:
                self.popen.wait(60)
            except subprocess.TimeoutExpired:
                self.popen.kill()
                self.popen.wait()
        self.log.close()
        return self.popen.returncode

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()
        shutil.rmtree(self.state, ignore_errors=True)


# --- a client ---------------------------------------------------------------------------------


class Client:
    """One keep-alive connection."""

    def __init__(self, port):
        self.port, self.reader, self.writer = port, None, None

    async def connect(self):
        self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port)

    def close(self):
        if self.writer:
            self.writer.close()
        self.writer = None

    async def send(self, method, path, body=None, headers=""):
        if not self.writer:
            await self.connect()
        data = b"" if body is None else json.dumps(body).encode()
        kind = "Content-Type: application/json\r\n" if body is not None else ""
        self.writer.write(f"{method} {path} HTTP/1.1\r\nHost: localhost\r\n{kind}{headers}"
                          f"Content-Length: {len(data)}\r\n\r\n".encode() + data)
        await self.writer.drain()

    async def head(self):
        head = await self.reader.readuntil(b"\r\n\r\n")
        lines = head.decode("latin-1").split("\r\n")
        fields = {k.lower(): v.strip() for k, _, v in (line.partition(":") for line in lines[1:] if line)}
        return int(lines[0].split()[1]), fields

    async def request(self, method, path, body=None):
        await self.send(method, path, body)
        status, fields = await self.head()
        data = await self.reader.readexactly(int(fields.get("content-length", "0")))
        if fields.get("connection", "").lower() == "close":
            self.close()
        return status, fields, data


# --- parts ------------------------------------------------------------------------------------


def part_health(quick):
    """Requests a second that never reach a jar, on one core."""
    seconds = 3 if quick else 10
    if not shutil.which("wrk"):
        raise SystemExit("wrk is missing: scripts/install-deps bench")
    with Service(command=("taskset", "-c", "0")) as s:
        out = subprocess.run(["taskset", "-c", "1", "wrk", "-t1", "-c64", f"-d{seconds}s",
                              f"http://127.0.0.1:{s.port}/v1/health"], capture_output=True, text=True,
                              check=True).stdout
        rate = float(re.search(r"Requests/sec:\s+([\d.]+)", out)[1])
        errors = re.search(r"Non-2xx or 3xx responses: (\d+)|Socket errors:.*", out)
        judge("health, one core, at least 20,000 requests/s", rate >= 20000 and not errors,
              f"{rate:,.0f}/s{' ' + errors[0] if errors else ''}")


async def stream_run(port, seconds):
    c = Client(port)
    code = f"import time\nfor i in range({seconds * 10}):\n    print('x' * 1000, flush=True)\n    time.sleep(0.1)"
    await c.send("POST", "/v1/runs", {"language": "python", "code": code, "stream": True,
                                      "limits": {"wall_ms": (seconds + 20) * 1000}})
    status, _ = await c.head()
    events = 0
    while status == 200:
        line = await asyncio.wait_for(c.reader.readline(), 60)
        events += b'"event":"stdout"' in line
        if b'"event":"done"' in line:
            break
    c.close()
    return status == 200 and events > 0


async def idle_and_streams(s, quick):
    keeper = s.half("keeper")
    start = s.rss_kib(keeper)
    idle = [Client(s.port) for _ in range(1000)]
    for c in idle:
        await c.connect()
        status, _, _ = await c.request("GET", "/v1/health")
        assert status == 200
    with_idle = s.rss_kib(keeper)
    samples, seconds = [], 8 if quick else 30
    for _ in range(3):  # the first one fills the caches
        runs = [asyncio.create_task(stream_run(s.port, seconds)) for _ in range(64)]
        while not all(r.done() for r in runs):
            samples.append(s.rss_kib(keeper))
            await asyncio.sleep(1)
        assert all(r.result() for r in runs)
        samples.append(None)
    rounds = [[]]
    for x in samples:
        rounds[-1].append(x) if x else rounds.append([])
    peaks = [max(r) for r in rounds if r]
    alive = 0
    for c in idle:
        status, _, _ = await c.request("GET", "/v1/health")
        alive += status == 200
        c.close()
    say(f"  keeper's RSS: {start} KiB at start, {with_idle} KiB with 1,000 idle connections, "
        f"{', '.join(map(str, peaks))} KiB at most in rounds of 64 streams")
    judge("1,000 idle connections stay open", alive == 1000, f"{alive} of 1000")
    judge("1,000 idle connections and 64 streams: memory bounded", max(peaks) < 128 << 10, f"{max(peaks) >> 10} MiB")
    judge("... and flat", peaks[2] - peaks[1] <= 1024,
          f"{peaks[2] - peaks[1]:+d} KiB from the second round to the third")


def part_idle(quick):
    with Service("runs.max=80", "runs.queue=80", "http.idle_timeout=10m") as s:
        asyncio.run(idle_and_streams(s, quick))


async def many_runs(port, n, parallel):
    left, failures = n, []

    async def worker():
        nonlocal left
        c = Client(port)
        while left > 0:
            left -= 1
            status, _, data = await c.request("POST", "/v1/runs", HELLO)
            if status != 200 or b'"verdict":"ok"' not in data:
                failures.append((status, data[:200]))
        c.close()

    await asyncio.gather(*(worker() for _ in range(parallel)))
    return failures


def part_in_a_row(quick):
    n = 1000 if quick else 10000
    before = hostview.Host()
    with Service("history.max_age=1h") as s:
        keeper, warden = s.half("keeper"), s.half("warden")
        assert not asyncio.run(many_runs(s.port, 500, 4))
        fds = (s.fds(keeper), s.fds(warden))
        started = time.monotonic()
        failures = asyncio.run(many_runs(s.port, n, 4))
        took = time.monotonic() - started
        time.sleep(2)
        fds2 = (s.fds(keeper), s.fds(warden))
        judge(f"{n:,} runs in a row succeed", not failures, f"{n - len(failures):,} ok, {n / took:.0f}/s")
        # Pools breathe: the warden has some for each jar that waits. A leak would be in the hundreds.
        judge("... leak no descriptors", fds2[0] == fds[0] and fds2[1] - fds[1] <= 16,
              f"keeper, warden {fds} -> {fds2}")
        status = s.stop()
        judge("the service ends well", status == 0, f"exit status {status}")
        rows = history_rows(s)
        judge("... one row a run", rows["finished"] == n + 500 and len(rows) == 1, dict(rows))
        audit = subprocess.run([BELLJAR, "audit", "verify", "--state", os.path.join(s.state, "state")],
                               capture_output=True, text=True)
        judge("... audit verifies", audit.returncode == 0, (audit.stdout + audit.stderr).strip())
    harm = leftovers(before)
    judge("... nothing is left on the host", not harm, harm or "no process, mount, cgroup or file")


def leftovers(before, within=10):
    deadline = time.monotonic() + within
    while True:
        harm = hostview.Host().harm_since(before)
        if not harm or time.monotonic() > deadline:
            return harm
        time.sleep(0.2)


def history_rows(s):
    """How many runs there are in each state, straight from the database of a service that has ended."""
    import collections
    import sqlite3

    db = sqlite3.connect(os.path.join(s.state, "state", "data", "belljar.db"))
    with contextlib.closing(db):
        return collections.Counter(state for (state,) in db.execute("SELECT state FROM runs"))


async def closed_loop(port, connections, seconds):
    latencies, deadline = [], time.monotonic() + seconds

    async def worker():
        c = Client(port)
        while time.monotonic() < deadline:
            at = time.monotonic()
            status, _, _ = await c.request("POST", "/v1/runs", WORK)
            assert status == 200, status
            latencies.append(time.monotonic() - at)
        c.close()

    await asyncio.gather(*(worker() for _ in range(connections)))
    return latencies


async def open_loop(port, rate, seconds):
    """Sends requests at a fixed rate, independent of the answers, on as many connections as needed."""
    accepted, refused, bad, free, tasks = [], [], [], [], set()

    async def one():
        c = free.pop() if free else Client(port)
        at = time.monotonic()
        try:
            status, fields, data = await asyncio.wait_for(c.request("POST", "/v1/runs", WORK), 60)
        except Exception as e:  # every connection must get an answer
            bad.append(repr(e))
            c.close()
            return
        took = time.monotonic() - at
        if status == 200:
            accepted.append(took)
        elif status == 503 and "retry-after" in fields and b'"busy"' in data:
            refused.append(took)
        else:
            bad.append((status, data[:100]))
        free.append(c)

    start = time.monotonic()
    sent = 0
    while time.monotonic() - start < seconds:
        due = int((time.monotonic() - start) * rate)
        while sent < due:
            task = asyncio.create_task(one())
            tasks.add(task)
            task.add_done_callback(tasks.discard)
            sent += 1
        await asyncio.sleep(0.005)
    await asyncio.gather(*tasks)
    for c in free:
        c.close()
    return accepted, refused, bad, sent


def quantiles(values):
    values = sorted(values)
    return {q: values[min(len(values) - 1, int(len(values) * q / 100))] * 1000 for q in (50, 95, 99)}


def part_overload(quick):
    limit, seconds = 8, 8 if quick else 30
    with Service(f"runs.max={limit}") as s:
        asyncio.run(closed_loop(s.port, limit, 2))
        idle = asyncio.run(closed_loop(s.port, limit, 5 if quick else 15))
        capacity = len(idle) / (5 if quick else 15)
        accepted, refused, bad, sent = asyncio.run(open_loop(s.port, 10 * capacity, seconds))
        a, b = quantiles(idle), quantiles(accepted)
        say(f"  capacity {capacity:.0f} runs/s at {limit} at once; offered {sent / seconds:.0f}/s for {seconds} s: "
            f"{len(accepted)} accepted, {len(refused)} refused, {len(bad)} other")
        say(f"  latency p50/p95/p99: {a[50]:.0f}/{a[95]:.0f}/{a[99]:.0f} ms idle, {b[50]:.0f}/{b[95]:.0f}/{b[99]:.0f} "
            f"ms overloaded")
        judge("overload x10: accepted within 2x of an idle server at the same concurrency (p50)", b[50] <= 2 * a[50],
              f"{b[50] / a[50]:.2f}")
        judge("... p95", b[95] <= 2 * a[95], f"{b[95] / a[95]:.2f}")
        judge("... every other gets 503 with Retry-After, none goes unanswered",
              not bad and len(accepted) + len(refused) == sent, f"{len(bad)} without" + (f": {bad[:3]}" if bad else ""))


async def load_until(port, stop, finished):
    async def worker():
        c = Client(port)
        while not stop.is_set():
            try:
                status, _, data = await c.request("POST", "/v1/runs",
                                                  {"language": "bash", "code": "sleep 0.05; echo hello"})
                if status == 200:
                    result = json.loads(data)
                    finished[result["id"]] = result["verdict"]
            except (OSError, asyncio.IncompleteReadError):
                c.close()
                await asyncio.sleep(0.02)
        c.close()

    await asyncio.gather(*(worker() for _ in range(8)))


async def kill_twenty(s, which, rounds, finished):
    stop = asyncio.Event()
    load = asyncio.create_task(load_until(s.port, stop, finished))
    back = []
    for _ in range(rounds):
        await asyncio.sleep(0.7)
        victim = s.half(which)
        os.kill(victim, signal.SIGKILL)
        at, done = time.monotonic(), len(finished)
        while time.monotonic() - at < 20:
            ok = [v for v in list(finished.values())[done:] if v == "ok"]
            if ok and s.half(which) not in (None, victim):
                break
            await asyncio.sleep(0.01)
        back.append(time.monotonic() - at)
    stop.set()
    await load
    return back


def part_crashes(quick):
    rounds = 5 if quick else 20
    for which in ("keeper", "warden"):
        before = hostview.Host()
        finished = {}
        with Service() as s:
            back = asyncio.run(kill_twenty(s, which, rounds, finished))
            judge(f"kill -9 of the {which}, {rounds} times under load: it comes back", max(back) < 15,
                  f"next good run after {statistics.median(back) * 1000:.0f} ms, at most {max(back) * 1000:.0f} ms")
            status = s.stop()
            judge("... the service ends well", status == 0, f"exit status {status}")
            states, verdicts = states_by_id(s)
            lost = [i for i, v in finished.items() if verdicts.get(i) != v]
            judge("... every run answered as finished is in the history", not lost,
                  f"{len(finished)} answered, {len(lost)} missing")
            open_ones = {st for st in states.values()} - {"finished", "interrupted"}
            judge("... every other is marked as interrupted", not open_ones,
                  f"{sum(st == 'interrupted' for st in states.values())} interrupted"
                  + (f", {open_ones}" if open_ones else ""))
            audit = subprocess.run([BELLJAR, "audit", "verify", "--state", os.path.join(s.state, "state")],
                                   capture_output=True, text=True)
            judge("... the audit chain verifies", audit.returncode == 0, (audit.stdout + audit.stderr).strip())
        harm = leftovers(before)
        judge("... nothing is left on the host", not harm, harm or "no process, mount, cgroup or file")


def states_by_id(s):
    import sqlite3

    db = sqlite3.connect(os.path.join(s.state, "state", "data", "belljar.db"))
    with contextlib.closing(db):
        rows = db.execute("SELECT id, state, verdict FROM runs").fetchall()
    return {i: st for i, st, _ in rows}, {i: v for i, _, v in rows}


PARTS = {"health": part_health, "idle": part_idle, "in_a_row": part_in_a_row, "overload": part_overload,
         "crashes": part_crashes}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer repetitions")
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
    options = parser.parse_args()
    for name in options.parts or PARTS:
        if name not in PARTS:
            parser.error(f"there is no part '{name}': {', '.join(PARTS)} are")
        say(f"{name}: {PARTS[name].__doc__ or ''}")
        PARTS[name](options.quick)
    say("everything reached" if not missed else f"missed: {'; '.join(missed)}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
