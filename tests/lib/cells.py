"""Cells of the differential tests of sessions: files of tests/data/sessions.

A line "=== NAME" begins a group, which runs in one session. A line "---" separates its cells."""
import re

from harness import REPO

DATA = REPO / "tests" / "data" / "sessions"


def groups(name):
    """[(name of the group, [code])] of a file."""
    parts = re.split(r"(?m)^=== (.*)\n", (DATA / name).read_text())
    return [(title, text.rstrip("\n").split("\n---\n")) for title, text in zip(parts[1::2], parts[2::2])]
