#!/usr/bin/python3
"""`SELECT 1` of PostgreSQL, warm over HTTP, beside a bare server that is started for it:
    bench/postgres.py [--quick]

  warm     POST /v1/runs to a service whose embryo waits, until the answer with its table is there
  pg_ctl   pg_ctl -w start on a prepared data directory, psql -c 'SELECT 1', pg_ctl -m immediate stop: the
           way of the documentation
  direct   the server started directly with the settings of a jar's server, asked over its socket by psql as
           soon as it answers, then killed: the fastest way without belljar

All three take turns. The bare data directory is the one that jars start from, unpacked before the clock
starts, on tmpfs if there is /dev/shm. The median of warm must be at most a tenth of pg_ctl's.
"""
import argparse
import os
import pathlib
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests/lib"))

import harness  # noqa: E402
from harness import eventually  # noqa: E402
from service import Service  # noqa: E402

SEED = ROOT / "build/guest/postgres/seed"
MUST = 0.1
NOBODY = 65534


class Bare:
    """A data directory of the server's own user."""

    def __init__(self):
        self.server = pathlib.Path((SEED / "server").read_text().strip())
        place = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="belljar-bench-", dir=place))
        self.data = self.dir / "data"
        self.as_user = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}",
                        "--clear-groups"] if os.geteuid() == 0 else []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.dir)

    def unpack(self):
        shutil.rmtree(self.data, ignore_errors=True)
        self.data.mkdir(mode=0o700)
        subprocess.run(["tar", "-xf", SEED / "data.tar", "-C", self.data, "--no-same-owner"], check=True)
        if self.as_user:
            subprocess.run(["chown", "-R", f"{NOBODY}:{NOBODY}", self.dir], check=True)

    def run(self, *argv):
        return subprocess.run([*self.as_user, *argv], stdin=subprocess.DEVNULL, capture_output=True, check=False,
                              cwd="/")

    def ask(self):
        psql = self.server.parent / "psql"
        return self.run(psql, "-X", "-A", "-t", "-h", self.data, "-U", "sandbox", "-d", "sandbox", "-c", "SELECT 1")

    def by_pg_ctl(self):
        ctl = [self.server.parent / "pg_ctl", "-D", self.data, "-o", f"-k {self.data}", "-l", self.data / "log"]
        begun = time.perf_counter()
        started = self.run(*ctl, "-w", "start")
        asked = self.ask()
        self.run(*ctl, "-m", "immediate", "stop")
        took = time.perf_counter() - begun
        assert asked.stdout == b"1\n", (started, asked)
        return took

    def direct(self):
        begun = time.perf_counter()
        server = subprocess.Popen([*self.as_user, self.server, "-D", self.data, "-k", self.data],
                                  stdin=subprocess.DEVNULL,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd="/", start_new_session=True)
        socket = self.data / ".s.PGSQL.5432"
        while not socket.exists():
            time.sleep(0.0005)
        while (asked := self.ask()).stdout != b"1\n":
            assert server.poll() is None and time.perf_counter() - begun < 30, asked
        took = time.perf_counter() - begun
        server.send_signal(signal.SIGQUIT)
        server.wait(30)
        return took


def by_service(s):
    assert eventually(lambda: s.get("/v1/stats").json["pools"]["postgres"]["ready"] >= 1, 30), s.get("/v1/stats").json
    time.sleep(0.1)  # lets the pool finish its work
    begun = time.perf_counter()
    result = s.run("SELECT 1", language="postgres")
    took = time.perf_counter() - begun
    assert result["start"] == "warm" and result["tables"][0]["rows"] == [[1]], result
    return took


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer rounds")
    rounds = 10 if parser.parse_args().quick else 40
    if not (SEED / "data.tar").exists():
        print("bench/postgres.py: PostgreSQL is not prepared: build/belljar languages prepare postgres",
              file=sys.stderr)
        return 2
    took = {"warm": [], "pg_ctl": [], "direct": []}
    with Service() as s, Bare() as bare:
        s.run("SELECT 1", language="postgres")
        for _ in range(rounds + 1):
            took["warm"].append(by_service(s))
            bare.unpack()
            took["pg_ctl"].append(bare.by_pg_ctl())
            bare.unpack()
            took["direct"].append(bare.direct())
    for name, times in took.items():
        times.pop(0)  # the page cache is warm now
        times.sort()
        print(f"{name:7} median {statistics.median(times) * 1000:7.1f} ms   best {times[0] * 1000:7.1f}   "
              f"worst {times[-1] * 1000:7.1f}   of {len(times)}")
    ratio = {name: statistics.median(took["warm"]) / statistics.median(took[name]) for name in ("pg_ctl", "direct")}
    print(f"warm / direct: {ratio['direct']:.3f}")
    outcome = "reached" if ratio["pg_ctl"] <= MUST else "MISSED"
    print(f"warm / pg_ctl: {ratio['pg_ctl']:.3f}, must be at most {MUST}: {outcome}")
    return 0 if ratio["pg_ctl"] <= MUST else 1


if __name__ == "__main__":
    harness.must_be_warm = False
    sys.exit(main())
