"""The unit tests that ask the kernel, on this kernel: cgroups, wardens, filters, Landlock, files that come out of jars."""
import os
import subprocess
from pathlib import Path

import pytest

from harness import PATIENCE

UNITS = Path(os.environ.get("BELLJAR_BUILD", "build/release")) / "tests" / "unit"
OF_THE_KERNEL = ("cgroup", "cgroup_host", "collect", "confine", "files", "landlock", "pools", "samples", "seccomp", "uids",
                 "warden", "warden_peer", "warden_refuses", "warm")


@pytest.mark.parametrize("name", OF_THE_KERNEL)
def test_unit(name, tmp_path):
    r = subprocess.run([UNITS / f"test_{name}"], cwd=tmp_path, stdin=subprocess.DEVNULL, capture_output=True,
                       timeout=120 * PATIENCE)
    said = r.stdout.decode(errors="replace") + r.stderr.decode(errors="replace")
    assert r.returncode == 0 and "FAIL" not in said and "ok " in said, said
