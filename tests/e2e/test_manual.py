"""Man pages and completions come from the tables of the commands: they are whole, correct for their readers, and
installed."""

import os
import pty
import re
import select
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from harness import REPO, belljar, public_dir

BUILT = Path(os.environ.get("BELLJAR_BUILD", REPO / "build" / "release")) / "src" / "cli" / "manual"


def needs(program):
    return pytest.mark.skipif(not shutil.which(program), reason=f"{program} is not installed")


def commands():
    listed = re.findall(r"^  (\w+) +\S", belljar("help").out.decode(), re.M)
    assert {"run", "serve", "help"} <= set(listed)
    return listed


def options(command):
    text = belljar(command, "--help").out.decode()
    found = re.findall(r"^  (?:-\w, |    )(--[a-z-]+)", text, re.M)
    assert "--help" in found
    return found


def settings():
    text = belljar("serve", "--help").out.decode()
    return re.findall(r"^  ([a-z_]+(?:\.[a-z_]+)*) [A-Z]+ ", text[text.index("\nSettings:\n"):], re.M)


def pages():
    return {"belljar", "belljar.conf", *commands()}


def as_text(roff, width=80):
    shown = subprocess.run(["groff", "-ww", "-man", "-Tutf8", "-P-c", "-P-b", "-P-u", f"-rLL={width}n"], input=roff,
                           capture_output=True, timeout=30)
    assert shown.returncode == 0 and shown.stderr == b"", shown.stderr
    return shown.stdout.decode()


@needs("groff")
def test_man_pages_are_formatted_without_a_warning():
    for page in sorted(pages()):
        roff = belljar("help", "--man", page).out
        text = as_text(roff)
        assert "NAME\n" in text and "SEE ALSO\n" in text and max(map(len, text.splitlines())) <= 80, page


@needs("man")
def test_man_itself_has_no_complaint(public_path):
    for page in sorted(pages()):
        (public_path / "page.1").write_bytes(belljar("help", "--man", page).out)
        shown = subprocess.run(["man", "--warnings", "-l", public_path / "page.1"], capture_output=True, timeout=60,
                               env={**os.environ, "LC_ALL": "C.UTF-8", "MANWIDTH": "80"})
        assert (shown.returncode, shown.stderr) == (0, b"") and b"NAME" in shown.stdout, page


def test_every_option_is_in_the_page_of_its_command():
    for command in commands():
        roff = belljar("help", "--man", command).out.decode().replace("\\-", "-")
        for option in options(command):
            assert f"\\fB{option}\\fR" in roff, (command, option)


def test_every_setting_is_in_the_page_of_the_settings():
    roff = belljar("help", "--man", "belljar.conf").out.decode().replace("\\-", "-")
    known = settings()
    assert "runs.max" in known and "limits.memory.max" in known
    for key in known:
        assert f"\\fB{key}\\fR" in roff, key


def test_unknown_page_and_shell_are_refused():
    refused = belljar("help", "--man", "bogus")
    assert refused.status == 64 and "'bogus'" in refused.message
    refused = belljar("help", "--completion", "tcsh")
    assert refused.status == 125 and "bash, zsh and fish are accepted" in refused.message


def test_reference_has_every_command_option_and_exit_status():
    text = (REPO / "docs" / "cli.md").read_text()
    for command in commands():
        assert re.search(rf"`(belljar )?{command}\b", text), command
    for option in options("run"):
        assert option == "--help" or f"`{option}" in text, option
    run = belljar("run", "--help").out.decode()
    statuses = re.findall(r"^  (\d+)  ", run[run.index("\nExit status:\n"):], re.M)
    assert {"124", "125", "64"} <= set(statuses)
    for status in statuses:
        assert f"| {status} |" in text, status


def completed_by_bash(*words):
    script = (f'source {BUILT}/belljar; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _belljar; '
              'printf "%s\\n" "${COMPREPLY[@]}"')
    done = subprocess.run(["bash", "--norc", "-c", script, "bash", "belljar", *words], capture_output=True, text=True,
                          timeout=30)
    assert done.stderr == "", done
    return done.stdout.split()


def test_bash_completes_commands_options_and_values():
    assert completed_by_bash("") == commands()
    for command in commands():
        assert sorted(completed_by_bash(command, "--")) == sorted(options(command))
    assert completed_by_bash("run", "-l", "py") == completed_by_bash("run", "--language", "py") == ["python"]
    assert completed_by_bash("run", "--isolation", "") == ["jar", "rootless", "process"]
    assert completed_by_bash("run", "--format", "m") == ["markdown"]
    assert completed_by_bash("keys", "") == ["add", "list", "remove"]
    assert completed_by_bash("languages", "install", "ru") == ["ruby", "rust"]
    assert completed_by_bash("history", "--verdict", "mem") == ["memory_limit"]
    assert completed_by_bash("run", "/etc/passw") == completed_by_bash("run", "x.py", "--", "/etc/passw")
    assert "/etc/passwd" in completed_by_bash("run", "/etc/passw")


def completed_by_zsh(typed, expected):
    """Types the beginning of a line and a tab at a zsh in a terminal."""
    pid, fd = pty.fork()
    if pid == 0:
        os.chdir("/")
        os.execvpe("zsh", ["zsh", "-f", "-i"], {"TERM": "dumb", "PATH": os.environ["PATH"], "HOME": "/nonexistent"})
    shown = b""

    def read_until(text, within=20):
        nonlocal shown
        until = time.monotonic() + within
        while text not in shown and time.monotonic() < until:
            if select.select([fd], [], [], 0.2)[0]:
                try:
                    shown += os.read(fd, 65536)
                except OSError:
                    break
        return text in shown

    try:
        os.write(fd, f"PS1=; fpath=({BUILT} $fpath); autoload -Uz compinit; compinit -u -D; print rea''dy\n".encode())
        assert read_until(b"ready"), shown
        shown = b""
        os.write(fd, f"{typed}\t".encode())
        return read_until(expected.encode()), shown
    finally:
        os.kill(pid, 9)
        os.waitpid(pid, 0)
        os.close(fd)


@needs("zsh")
@pytest.mark.parametrize("typed, expected", [
    ("belljar doc", "belljar doctor"), ("belljar run --isol", "--isolation"),
    ("belljar run --isolation ro", "rootless"),
    ("belljar keys rem", "keys remove"), ("belljar languages install rus", "install rust"),
    ("belljar run /etc/passw", "/etc/passwd"),
])
def test_zsh_completes(typed, expected):
    found, shown = completed_by_zsh(typed, expected)
    assert found, shown


@needs("fish")
@pytest.mark.parametrize("typed, expected", [
    ("belljar doc", "doctor"), ("belljar run --isol", "--isolation"), ("belljar run --isolation ro", "rootless"),
    ("belljar keys rem", "remove"), ("belljar languages install rus", "rust"),
    ("belljar run /etc/passw", "/etc/passwd"),
])
def test_fish_completes(typed, expected, public_path):
    done = subprocess.run(["fish", "-N", "-c", f"source {BUILT}/belljar.fish; complete -C '{typed}'"],
                          capture_output=True, text=True,
                          timeout=30, env={**os.environ, "HOME": str(public_path), "XDG_CONFIG_HOME": str(public_path)})
    assert done.stderr == "" and expected in [line.split("\t")[0] for line in done.stdout.splitlines()], done


@pytest.mark.release_only
def test_pages_and_completions_are_installed():
    place = public_dir()
    done = subprocess.run(["meson", "install", "-C", BUILT.parents[2], "--no-rebuild", "--quiet", "--destdir", place],
                          capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    found = {str(path).split("/share/", 1)[1] for path in place.rglob("*") if path.is_file() and "/share/" in str(path)}
    shutil.rmtree(place, ignore_errors=True)
    assert found >= {"bash-completion/completions/belljar", "zsh/site-functions/_belljar",
                     "fish/vendor_completions.d/belljar.fish",
                     "man/man1/belljar.1", "man/man5/belljar.conf.5",
                     *(f"man/man1/belljar-{name}.1" for name in commands())}
