"""Typing into the user's terminal (TIOCSTI: CVE-2017-5226, CVE-2023-28100; upper half of the request: CVE-2019-10063;
TIOCLINUX): the terminal belljar runs on is not the program's."""

import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import termios
import time
import unicodedata

from harness import BELLJAR, MARK, PRELUDE, eventually, public_dir, wait_readable

ATTACK = PRELUDE + r"""
requests = {"TIOCSTI": 0x5412, "TIOCLINUX": 0x541C, "TIOCSCTTY": 0x540E, "TIOCSETD": 0x5423, "TIOCCONS": 0x541D,
            "TIOCNXCL": 0x540D}
fds = {0: 0, 1: 1, 2: 2}
for path in ("/dev/tty", "/dev/console", "/dev/pts/0", "/dev/tty0", "/dev/ptmx", "/proc/self/fd/0", "/proc/1/fd/0"):
    try: fds[path] = os.open(path, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
    except OSError as e: found[f"open {path}"] = name_of(e.errno)
for name, request in requests.items():
    for high in (0, 1 << 32, 0xdeadbeef << 32, 1 << 63):
        for label, fd in fds.items():
            for c in b"id\n":
                key = f"{name} {high:#x} {label}"
                got = sys_call(16, fd, ctypes.c_ulong(request | high), ctypes.c_char_p(bytes([c])))
                if found.get(key, "E").startswith("E"): found[key] = got
found["tty"] = [os.isatty(fd) for fd in (0, 1, 2)]
found["ctty"] = (content("/proc/self/stat").rsplit(")", 1)[-1].split() + ["0"] * 5)[4]
found["session"] = os.getsid(0), os.getpgrp()
hand_over()
"""


def on_a_terminal(argv, within=60):
    """Runs with a new controlling terminal as stdin, stdout and stderr. Returns the output, the status and the typed
    input."""
    master, slave = pty.openpty()
    attrs = termios.tcgetattr(slave)
    attrs[3] &= ~(termios.ECHO | termios.ICANON)
    attrs[1] &= ~termios.OPOST
    termios.tcsetattr(slave, termios.TCSANOW, attrs)

    def lead_session():
        os.setsid()
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)

    process = subprocess.Popen(argv, stdin=slave, stdout=slave, stderr=slave, preexec_fn=lead_session,
                               env={**os.environ, "BELLJAR_TEST_MARK": MARK})
    said, deadline = b"", time.monotonic() + within
    try:
        while time.monotonic() < deadline:
            over = process.poll() is not None  # before we look whether it has said more
            if wait_readable(master, 0.1):
                said += os.read(master, 65536)
            elif over:
                break
        assert process.poll() is not None, f"still running: {said!r}"
        typed = struct.unpack("i", fcntl.ioctl(slave, termios.FIONREAD, b"\0" * 4))[0]
        return said, process.returncode, os.read(slave, typed) if typed else b""
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
        os.close(master)
        os.close(slave)


def test_nothing_can_be_typed_into_the_users_terminal():
    where = public_dir()
    try:
        (where / "p.py").write_text(ATTACK)
        said, status, typed = on_a_terminal([BELLJAR, "run", str(where / "p.py")])
    finally:
        (where / "p.py").unlink()
        where.rmdir()
    assert b"FOUND " in said, (said, status)
    found = json.loads(said.split(b"FOUND ")[1].split(b"\n")[0])
    assert typed == b"", f"typed into the terminal: {typed!r}"
    assert found["tty"] == [False, False, False] and found["ctty"] == "0", found
    through = {k: v for k, v in found.items() if k.startswith(("TIOCSTI", "TIOCLINUX", "TIOCSCTTY", "TIOCCONS"))
               and not v.startswith("E")}
    assert not through and len(found) > 70, through


REPORT = {"profile": {"sampled_ms": 100, "samples": 9,
    "functions": [{"file": "m\u202ea", "function": "f\u009b2J\x1b[2J", "line": 1, "self_ms": 90, "total_ms": 90}],
    "lines": [{"file": "main.py", "line": 1, "self_ms": 90, "text": "\x1b]0;x\x07\u202e"}],
    "stacks": [{"stack": "\x1b[2J;b\u2066", "ms": 90}]}}


def test_forged_profile_and_diagnosis_leave_the_terminal_alone():
    """Text of a guest that we print has no escape sequence but our own colours. (Output that the guest prints itself
    is its own.)"""
    forged = f"import os\nopen('/sandbox/.belljar-report.json', 'w').write({json.dumps(REPORT)!r})\nos._exit(0)\n"
    where = public_dir()
    try:
        for name, code, options, sign in (("p.py", forged, ["--profile"], b"9 samples"),
                                          ("\x1b[2Jq\u202e.py", "raise ValueError(1)", [], b"ValueError")):
            (where / name).write_text(code)
            said, _, typed = on_a_terminal([BELLJAR, "run", *options, str(where / name)])
            (where / name).unlink()
            ours = said.split(b"\nValueError: 1\n")[-1]
            assert sign in said and typed == b"", said
            rest = re.sub(rb"\x1b\[[0-9;]*m", b"", ours).decode()
            assert not [c for c in rest if unicodedata.category(c) in ("Cc", "Cf") and c not in "\n"], ours
    finally:
        where.rmdir()


def test_control_the_terminal_is_a_real_one():
    """The same program bare does see a terminal there."""
    where = public_dir()
    try:
        (where / "p.py").write_text("import os; print('FOUND', os.isatty(0), os.ttyname(0) != '', os.open('/dev/tty', "
                                    "2) > 0)")
        said, status, _ = on_a_terminal(["/usr/bin/python3", str(where / "p.py")])
    finally:
        (where / "p.py").unlink()
        where.rmdir()
    assert b"FOUND True True True" in said and status == 0, said


def test_terminal_modes_survive():
    """Ended by a timeout or by Ctrl-C, the terminal is as it was."""
    master, slave = pty.openpty()
    try:
        before = termios.tcgetattr(slave)
        process = subprocess.Popen([BELLJAR, "run", "--timeout", "500ms", "-l", "bash", "/dev/stdin"],
                                   stdin=subprocess.DEVNULL,
                                   stdout=slave, stderr=slave, start_new_session=True,
                                   env={**os.environ, "BELLJAR_TEST_MARK": MARK})
        assert eventually(lambda: process.poll() is not None, 30)
        assert termios.tcgetattr(slave) == before
    finally:
        os.close(master)
        os.close(slave)
