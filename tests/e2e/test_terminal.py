"""Typed input belongs to the foreground process: to the program while `belljar run` is in the foreground, and to the
shell as soon as it is not. Each test is a shell with a terminal of its own, in a process of its own."""

import contextlib
import fcntl
import os
import select
import signal
import subprocess
import termios
import time
import traceback

import pytest

from harness import BELLJAR, BRIEF_MS, PATIENCE
from service import Service

READER = """\
import sys
print('ready', flush=True)
for line in sys.stdin: print('got', line.strip(), flush=True)
print('end')"""
LONG_ENOUGH = 1.0  # time enough for a process that must not read to read


class Shell:
    """One job, on a terminal that controls us both."""

    def __init__(self, argv, environ):
        signal.signal(signal.SIGTTOU, signal.SIG_IGN)  # as shells do, to take the terminal back
        self.master, self.slave = os.openpty()
        fcntl.ioctl(self.slave, termios.TIOCSCTTY, 0)
        self.job = subprocess.Popen(argv, stdin=self.slave, stdout=subprocess.PIPE, env=environ, process_group=0)

    def type(self, keys):
        os.write(self.master, keys)

    def foreground(self):
        os.tcsetpgrp(self.slave, self.job.pid)
        os.killpg(self.job.pid, signal.SIGCONT)

    def background(self):
        os.tcsetpgrp(self.slave, os.getpgrp())

    def reads(self):
        """The input that the shell can read."""
        readable, _, _ = select.select([self.slave], [], [], 0)
        return os.read(self.slave, 4096) if readable else b""

    def says(self, expected, within=20):
        line = b""
        while not line.endswith(b"\n"):
            assert select.select([self.job.stdout], [], [], within * PATIENCE)[0], f"only {line!r}, not {expected!r}"
            byte = os.read(self.job.stdout.fileno(), 1)
            assert byte, f"ended after {line!r}, before {expected!r}"
            line += byte
        assert line == expected.encode() + b"\n"

    def silent(self):
        assert not select.select([self.job.stdout], [], [], LONG_ENOUGH)[0], os.read(self.job.stdout.fileno(), 4096)


@pytest.fixture(params=["here", "service"])
def terminal(request, public_path):
    """Calls the test's scenario with a Shell, in a new session."""
    program = public_path / "main.py"
    program.write_text(READER)

    def session(scenario, *options):
        environ = {**os.environ, "BELLJAR_STATE": str(service.state) if service else "/nonexistent"}
        pid = os.fork()
        if pid == 0:
            status, shell = 1, None
            try:
                os.setsid()
                signal.alarm(60 * PATIENCE)
                shell = Shell([BELLJAR, "run", "--timeout", "30s", *options, str(program)], environ)
                scenario(shell)
                status = 0
            except BaseException:
                traceback.print_exc()
            finally:
                if shell and shell.job.poll() is None:
                    shell.job.kill()
                os._exit(status)
        assert os.waitpid(pid, 0)[1] == 0, "see above"

    with Service() if request.param == "service" else contextlib.nullcontext() as service:
        yield session


def test_a_program_in_the_foreground_reads_what_is_typed_until_ctrl_d(terminal):
    def scenario(shell):
        shell.foreground()
        shell.says("ready")
        shell.type(b"one\n")
        shell.says("got one")
        shell.type(b"two\n\x04")
        shell.says("got two")
        shell.says("end")
        assert shell.job.wait(20 * PATIENCE) == 0

    terminal(scenario)


def test_ctrl_c_cancels(terminal):
    def scenario(shell):
        shell.foreground()
        shell.says("ready")
        shell.type(b"\x03")
        assert shell.job.wait(20 * PATIENCE) == 130

    terminal(scenario)


def test_what_is_typed_while_it_runs_in_the_background_is_the_shells(terminal):
    def scenario(shell):
        shell.background()
        shell.says("ready")
        shell.type(b"a secret\n")
        shell.silent()
        assert shell.reads() == b"a secret\n"
        shell.foreground()
        shell.type(b"for it\n\x04")
        shell.says("got for it")
        shell.says("end")
        assert shell.job.wait(20 * PATIENCE) == 0

    terminal(scenario)


def test_what_is_typed_after_ctrl_z_is_the_shells(terminal):
    def scenario(shell):
        shell.foreground()
        shell.says("ready")
        shell.type(b"\x1a")
        _, status = os.waitpid(shell.job.pid, os.WUNTRACED)
        assert os.WIFSTOPPED(status)
        shell.background()
        shell.type(b"a secret\n")
        shell.silent()
        assert shell.reads() == b"a secret\n"
        shell.foreground()
        shell.type(b"for it\n\x04")
        shell.says("got for it")
        shell.says("end")
        assert shell.job.wait(20 * PATIENCE) == 0

    terminal(scenario)


def test_in_the_background_it_ends_by_itself_whatever_is_typed(terminal):
    def scenario(shell):
        shell.background()
        shell.says("ready")
        shell.type(b"ls\n")
        deadline = time.monotonic() + 20 * PATIENCE
        while shell.job.poll() is None and time.monotonic() < deadline:
            time.sleep(0.05)
        assert shell.job.returncode == 124
        assert shell.reads() == b"ls\n"

    terminal(scenario, "--timeout", f"{3 * BRIEF_MS}ms")


def test_a_terminal_as_stdin_file_is_read_by_the_same_rule(terminal):
    def scenario(shell):
        shell.background()
        shell.says("ready")
        shell.type(b"a secret\n")
        shell.silent()
        assert shell.reads() == b"a secret\n"

    terminal(scenario, "--stdin", "/dev/tty")
