"""Every example in our documents is true. `belljar verify` runs the blocks that can run in a jar. It skips the others
with a reason. Blocks that run belljar itself, or ask a service, run here on the host."""

import json
import os
import re
import shlex
import subprocess
import uuid
from pathlib import Path

import pytest

import harness
from harness import REPO, belljar
from service import Service

DOCUMENTS = ["README.md", "SECURITY.md", "CONTRIBUTING.md", "ARCHITECTURE.md", "docs"]
OWN, SERVICE = "runs belljar itself", "needs a service"
# Nobody can run these in a test.
OTHER_REASONS = {"needs hosts outside", "installs packages", "installs files", "is a hook", "needs a terminal",
                 "needs another machine",
                 "needs the library",  # test_installed compiles it
                 "the times differ from run to run",
                 # The READMEs of the packages have them, and test_sdk_python and test_sdk_typescript run those.
                 "needs the package and a service"}
# test_the_example_of_the_documentation_works_to_the_letter has the declaration that these need.
ELSEWHERE = {"docs/languages.md"}

# Files that the examples name and do not show.
FILES = {
    "towns.csv": "name,people\nDresden,563011\nJena,111343\n",
    "query.sql": "SELECT name FROM towns;\n",
    "find.sql": "SELECT ?1, ?2;\n",
}


def examples(reason):
    """The console blocks that are skipped for this reason."""
    listed = belljar("verify", "--list", "--json", *DOCUMENTS, cwd=REPO)
    assert listed.status == 0, listed
    return [c for c in json.loads(listed.out)["checks"] if c["message"] == reason and c["file"] not in ELSEWHERE]


def matches(expected, got):
    """… stands for any text, also over the end of a line; a line that was too long for the document is broken there."""
    parts = [re.escape(part.strip()) for part in expected.strip().split("…")]
    return re.fullmatch("(?s)" + r"\s*.*?\s*".join(parts), got.strip())


@pytest.fixture
def desk(public_path):
    """A directory like a checkout, with the files that examples name."""
    (public_path / "examples").symlink_to(REPO / "examples")
    (public_path / "build").mkdir()
    (public_path / "build" / "belljar").symlink_to(harness.BELLJAR)
    for name, text in FILES.items():
        (public_path / name).write_text(text)
    return public_path


class Shell:
    """One shell for the commands of a block, as a reader has it: variables live until its end."""

    def __init__(self, desk, environ):
        env = {**os.environ, "BELLJAR_STATE": "/nonexistent", "XDG_CACHE_HOME": "/dev/null/cache", **(environ or {}),
               "PATH": f"{Path(harness.BELLJAR).parent}:{os.environ['PATH']}"}
        self.bash = subprocess.Popen(["bash"], cwd=desk, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                     stderr=subprocess.STDOUT, text=True)

    def run(self, command):
        """The output and the exit status."""
        cut = f"cut-{uuid.uuid4().hex}"
        self.bash.stdin.write(f"eval {shlex.quote(command)} </dev/null; printf '\\n%s %d\\n' {cut} $?\n")
        self.bash.stdin.flush()
        out = ""
        for line in self.bash.stdout:
            if line.startswith(cut):
                return out[:-1], int(line.split()[1])
            out += line
        raise AssertionError(f"the shell ended: {out}")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.bash.stdin.close()
        self.bash.wait(60)
        self.bash.stdout.close()


def run_steps(check, desk, environ=None, address=None):
    ids = {}
    with Shell(desk, environ) as shell:
        for step in check["steps"]:
            command, expected = step["command"], step["expected"]
            shown = re.fullmatch(r"cat (\w+\.\w+)\n", command)
            if shown:  # the document shows a file
                (desk / shown[1]).write_text(expected)
            for prefix, found in ids.items():
                command = command.replace(prefix + "…", found)
            if address:
                command = command.replace("127.0.0.1:6000", address)
            out, status = shell.run(command)
            place = f"{check['file']}:{step['line']}"
            if expected is None:
                assert status == 0, (place, command, out)
            else:
                assert matches(expected, out), (place, command, out)
            ids.update({found[:4]: found for found in re.findall(r"\b[a-z]{3}_[0-9a-f]{20,}", out)})


def test_examples_in_documents_run_in_jars():
    result = belljar("verify", "--json", *DOCUMENTS, cwd=REPO, within=120)
    report = json.loads(result.out)
    assert result.status == 0 and report["passed"] >= 5, [c for c in report["checks"] if c["outcome"] != "passed"]
    reasons = {c["message"] for c in report["checks"] if c["outcome"] == "skipped"}
    assert reasons <= {OWN, SERVICE} | OTHER_REASONS, reasons


def test_examples_that_run_belljar_are_true(desk):
    if not harness.ROOT:
        pytest.skip("the examples show level jar, which needs root")
    checks = examples(OWN)
    assert len(checks) >= 6
    for check in checks:
        run_steps(check, desk)


def test_examples_that_need_a_service_are_true(desk):
    checks = examples(SERVICE)
    assert len(checks) >= 4
    with_keys = [c for c in checks if any("keys add" in step["command"] for step in c["steps"])]
    assert with_keys
    with Service() as s:
        for check in [c for c in checks if c not in with_keys] + with_keys:  # the first key closes the service
            run_steps(check, desk, {"BELLJAR_STATE": str(s.state)}, f"127.0.0.1:{s.port}")
