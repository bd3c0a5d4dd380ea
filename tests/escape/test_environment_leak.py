"""Environment leaks: nothing of the caller's environment arrives, by any road."""

import os

from harness import attack

SECRETS = {"AWS_SECRET_ACCESS_KEY": "canary-0001", "DATABASE_URL": "canary-0002", "LD_LIBRARY_PATH": "/canary-0003",
           "PYTHONPATH": "/canary-0004", "BASH_ENV": "/canary-0005", "ENV": "/canary-0006",
           "NODE_OPTIONS": "--title=canary-0007",
           "HTTPS_PROXY": "http://canary-0008", "SSH_AUTH_SOCK": "/canary-0009", "IFS": "canary-0010",
           "BASH_FUNC_ls%%": "() { echo canary-0011; }"}


def test_no_variable_of_the_caller_arrives():
    found, run = attack("""
found["environ"] = content("/proc/self/environ")
found["os"] = dict(os.environ)
found["path"] = sys.path
import subprocess
found["bash"] = subprocess.run(["bash", "-c", "declare -p; declare -f"], capture_output=True, text=True).stdout
""", environ={**os.environ, **SECRETS})
    assert "canary" not in repr(found) and run.verdict == "ok"


def test_command_line_of_the_caller_does_not_arrive():
    """belljar's own arguments (other files, limits) cannot be read inside."""
    found, _ = attack("""
for p in listed("/proc"):
    if p.isdigit() and int(p) != os.getpid(): found[p] = content(f"/proc/{p}/cmdline")
found["argv"] = sys.argv
""", args=["visible"], env=["ALSO=visible"])
    assert found.pop("argv")[1:] == ["visible"]
    assert "--json" not in repr(found) and "--env" not in repr(found), found
