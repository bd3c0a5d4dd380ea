"""Programs of tests/data/exact, and their results warm and cold. See tests/data/exact/README.md.

    corpus = Corpus("node", (".js", ".mjs"), language="javascript", kinds=("node",))
    warm, cold = corpus.results()[name]
"""

import base64
import json
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from harness import ASAN, REPO, SOAK, eventually
from service import ROOMY, Service

COMPARED = ("stdout", "stderr", "exit_code", "signal", "verdict", "stdout_bytes", "stderr_bytes", "limits_hit")
# A cold import of a large library takes long on a busy machine. Nothing here is about time.
LIMITS = {"wall_ms": 120000, "cpu_ms": 30000, "memory": 512 << 20, "output": 16 << 20}
AT_A_TIME = 4
ADDRESS = re.compile(r"\b0x[0-9a-f]{6,16}\b")
FILTERS = re.compile(r"Seccomp_filters:\s+\d+")


class Corpus:
    def __init__(self, folder, extensions, language, kinds):
        self.folder = REPO / "tests/data/exact" / folder
        self.language, self.kinds = language, kinds
        self.files = {path.name: path for path in sorted(self.folder.iterdir()) if path.suffix in extensions}
        self.names = thinned(list(self.files))

    def side(self, name):
        path = self.folder / (Path(name).stem + ".json")
        return json.loads(path.read_text()) if path.exists() else {}

    def run(self, service, name):
        side = self.side(name)
        main = side.get("name", "main" + Path(name).suffix)
        files = {main: self.files[name].read_bytes(), **{k: v.encode() for k, v in side.get("files", {}).items()}}
        return service.run(files={k: {"content": base64.b64encode(v).decode(), "encoding": "base64"} for k,
                                  v in files.items()},
                           entry=main, language=self.language, args=side.get("args", []), env=side.get("env", {}),
                           stdin=side.get("stdin", ""), limits=LIMITS, within=150)

    def run_all(self, service):
        with ThreadPoolExecutor(AT_A_TIME) as pool:
            return dict(zip(self.names, pool.map(lambda name: self.run(service, name), self.names)))

    def results(self):
        """Name to (warm, cold)."""
        with Service(*ROOMY, "--set", "pools.preload=" + ",".join(self.kinds)) as s:
            wait_up(s, self.kinds)
            warm = self.run_all(s)
        with Service(*ROOMY, "--set", "pools.max=0") as s:
            cold = self.run_all(s)
        return {name: (warm[name], cold[name]) for name in self.names}

    def check(self, name, warm, cold):
        assert cold["start"] == "cold", cold
        assert warm["start"] in (("cold",) if self.side(name).get("start") == "cold" else ("warm", "hatched")), warm
        assert comparable(warm) == comparable(cold)


def thinned(names):
    """Every third one; all in the group soak; with the sanitizers, which do not watch interpreters, a few."""
    return names if SOAK else names[::40 if ASAN else 3]


def comparable(result):
    """Addresses differ between any two runs. A warm guest has the filter of its zygote beside its own, which is
    the stricter one; the kernel counts both."""
    seen = {field: result[field] for field in COMPARED}
    for stream in ("stdout", "stderr"):
        seen[stream] = FILTERS.sub("Seccomp_filters: ~", ADDRESS.sub("0x~", seen[stream]))
    return seen


def pools(s):
    return s.get("/v1/stats").json["pools"]


def wait_up(s, kinds):
    """Skips where this machine has no warm starts of these kinds: the driver was not built, or refuses the
    interpreter."""
    absent = set(kinds) - set(pools(s))
    if absent:
        pytest.skip(f"no warm starts of {', '.join(sorted(absent))}: no such kind here")

    def settled():
        found = pools(s)  # one look: a kind that failed is tried again now and then
        return found if all(found[k]["zygote"] in ("up", "failed") for k in kinds) else None
    now = eventually(settled, 30)
    assert now, pools(s)
    failed = {k: now[k]["why"] for k in kinds if now[k]["zygote"] == "failed"}
    if failed:
        # Only these: any other failure, of an interpreter that is supported, is one of ours.
        allowed = ("is neither beside belljar", "warm starts are for Node", "was built for Python", "start /")
        assert all(why and any(a in why for a in allowed) for why in failed.values()), now
        pytest.skip("no zygote: " + "; ".join(f"{k}: {why}" for k, why in failed.items()))
