"""The unit tests that ask the kernel, on this kernel: cgroups, wardens, filters, Landlock, files that come out of
jars."""
import os
import signal
import subprocess
from pathlib import Path

import pytest

from harness import PATIENCE

UNITS = Path(os.environ.get("BELLJAR_BUILD", "build/release")) / "tests" / "unit"
# Not warm, which wants its driver where it was built: test_everywhere has warm starts.
OF_THE_KERNEL = ("base_descend", "engine_pools", "jar_as_owner", "jar_cgroup", "jar_cgroup_host", "jar_collect",
                 "jar_confine", "jar_files", "jar_landlock", "jar_seccomp", "jar_uids", "spec_samples", "warden",
                 "warden_peer", "warden_refuses")


@pytest.mark.parametrize("name", OF_THE_KERNEL)
def test_unit(name, tmp_path):
    # Into a file: of a test that hangs somebody else may hold the other end of a pipe.
    with open(tmp_path / "said", "w+b") as said, \
            subprocess.Popen([UNITS / f"test_{name}"], cwd=tmp_path, stdin=subprocess.DEVNULL, stdout=said,
                             stderr=said, start_new_session=True) as process:
        try:
            status = process.wait(60 * PATIENCE)
        except subprocess.TimeoutExpired:
            status = "it hangs"
            os.killpg(process.pid, signal.SIGKILL)
        said.seek(0)
        text = said.read().decode(errors="replace")
    assert status == 0 and "ok " in text, f"{status}\n{text}"
