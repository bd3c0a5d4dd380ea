"""The escape tests a second time (BELLJAR_TEST_WARM=1). One service with warm pools runs every program of `belljar
run`. Each program must have been forked from a zygote, unless it asked for an option that only a cold start has.

The jars that the service keeps ready are no harm to the host. After every test it is checked that there are no more.
"""

import os

import hostview
from harness import PATIENCE, eventually
from service import ROOMY, Service

WANTED = os.environ.get("BELLJAR_TEST_WARM") == "1"
LIMITS = (("cpu_percent", "6400"), ("memory", "4g"), ("disk", "2g"), ("output", "1g"), ("files", "1000000"),
          ("open_files", "65536"), ("pids", "4096"))


def pools(s):
    return s.get("/v1/stats").json["pools"]


WHEN_USED = ("typescript", "postgres", "python-session", "node-session", "typescript-session",
             "python-image", "node-image", "typescript-image")  # not booted from the start, unless a service is told to


def filled(s):
    """The pools, once all that can be warm is; None until then."""
    found = {name: p for name, p in pools(s).items() if not (name in WHEN_USED and p["zygote"] == "off")}.values()
    return found if all(p["zygote"] == "failed" or (p["zygote"] == "up" and p["ready"] >= max(1, p["target"]))
                        for p in found) else None


def service():
    """As an operator would start it, but that a test may ask for as much as on the command line."""
    more = [word for name, most in LIMITS for word in ("--set", f"limits.{name}.max={most}")]
    return Service(*ROOMY, *more)


def strangers(s):
    """Processes of the service that its pools do not explain, while nothing runs."""
    below = hostview.descendants(s.pid)
    depth = max(p.depth for p in below if p.comm == "belljar-warden")
    kinds = pools(s)
    ready = sum(p["ready"] for p in kinds.values())
    # An embryo of PostgreSQL has its server with it.
    servers = kinds.get("postgres", {}).get("ready", 0) > 0
    inside = [p for p in below if p.depth > depth and not (servers and p.comm == "postgres")]
    explained = len([p for p in inside if p.comm == "jar-embryo"]), len([p for p in inside if p.inner_pid == 1])
    return inside if len(inside) != 2 * ready or explained != (ready, ready) else []


def assert_only_pools(s):
    left = []

    def look():
        nonlocal left
        left = filled(s) and strangers(s)
        return left == []

    assert eventually(look, 20 * PATIENCE), f"more than the pools: {left}, {pools(s)}"


KINDS = (("python", "python", ""), ("python-std", "python", "import json\n"), ("node", "node", ""),
         ("bash", "bash", ""))


def run(s, code, language="python", **fields):
    """A run that was forked from a zygote."""
    if fields.pop("refill", True):
        assert eventually(lambda: filled(s), 30 * PATIENCE), pools(s)
    r = s.run(code, language=language, **fields)
    assert r["start"] in ("warm", "hatched"), r
    return r
