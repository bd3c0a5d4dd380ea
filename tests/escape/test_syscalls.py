"""Every system call by number, through every entry of the kernel, and the arguments that decide. The answers are
exactly those of tests/data/syscalls.golden.

The list changes only on purpose: `/usr/bin/python3 tests/escape/test_syscalls.py --regenerate` writes it anew from
the filters as they are built. Then read the difference, line by line.
"""

import os
import platform
import subprocess
import sys
from itertools import groupby
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "lib"))

import pytest

import harness

GOLDEN = harness.REPO / "tests/data/syscalls.golden"
PROFILES = ("jar", "no-sockets", "process", "init", "listed", "listed-own-code", "reader", "command-keeper",
            "client-keeper", "service-keeper", "porter", "injector-parent", "injector", "zygote")
HEADER = f"""\
# Which system calls a filter lets through: x86_64. Read by test_syscalls.py, which also says how to
# write it anew. Verdicts: allowed, killed, zero (answered 0 without a call), the errno of the refusal, or
# unfiltered (two trampolines of tracers, for which the kernel asks no filter).
# {"entry":6} {"number":10} {"name":28} {" ".join(f"{profile:15}" for profile in PROFILES)}
"""

# Calls that are let through, and that a kernel older than this does not have.
SINCE = {
    "epoll_pwait2": (5, 11),
    "futex_waitv": (5, 16),
    "fchmodat2": (6, 6),
    "mseal": (6, 10),
}

pytestmark = pytest.mark.skipif(platform.machine() != "x86_64", reason="the golden list is for x86_64")


def parse_probe(text):
    """{(entry, number or call, name): verdict}"""
    rows = {}
    for line in text.splitlines():
        entry, number, name, verdict = line.split()
        rows[entry, number, name] = verdict
    return rows


def probe_alone(profile):
    """The answers of the filter alone, with all our privileges."""
    done = subprocess.run([harness.tool("syscall_probe"), profile], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return parse_probe(done.stdout)


def read_golden():
    """{profile: {(entry, number, name): verdict}}, with ranges of numbers spelled out."""
    golden = {profile: {} for profile in PROFILES}
    for line in GOLDEN.read_text().splitlines():
        if line.startswith("#"):
            continue
        entry, number, name, *verdicts = line.split()
        first, _, last = number.partition("-")
        numbers = [number] if entry == "arg" or not last else [str(n) for n in range(int(first), int(last) + 1)]
        for profile, verdict in zip(PROFILES, verdicts, strict=True):
            golden[profile].update({(entry, n, name): verdict for n in numbers})
    return golden


def format_golden(found):
    lines = []
    rows = [(key, tuple(found[profile][key] for profile in PROFILES)) for key in found["jar"]]

    def kind(row):
        (entry, number, name), verdicts = row
        return (entry, name, verdicts) if name == "-" else (entry, number, name)

    for _, group in groupby(rows, kind):
        group = list(group)
        (entry, number, name), verdicts = group[0]
        if len(group) > 1:
            number = f"{number}-{group[-1][0][1]}"
        lines.append(f"{entry:8} {number:10} {name:28} " + " ".join(f"{v:15}" for v in verdicts).rstrip())
    return HEADER + "\n".join(lines) + "\n"


def kernel_version():
    return tuple(int(n) for n in os.uname().release.split("-")[0].split(".")[:2])


def is_this_kernel(key, expected, got):
    """Whether a difference comes from this kernel, and not from the filter."""
    entry, _, name = key
    if entry == "i386":
        return (expected, got) == ("killed", "absent")
    if entry == "arg" and (name == "family=10" or name.startswith("inet6")):
        return got == "EAFNOSUPPORT" and not os.path.exists("/proc/net/if_inet6")
    if expected == "unfiltered":
        return got == "ENOSYS"
    return (expected, got) == ("allowed", "ENOSYS") and kernel_version() < SINCE.get(name, (0, 0))


def assert_as_golden(found, profile):
    golden = read_golden()[profile]
    differences = []
    for key in sorted(golden.keys() | found.keys(), key=str):
        expected, got = golden.get(key, "not listed"), found.get(key, "not probed")
        if expected != got and not is_this_kernel(key, expected, got):
            differences.append(f"  {' '.join(key):45} golden: {expected:15} here: {got}")
    if differences:
        pytest.fail(
            f"{len(differences)} calls differ from {GOLDEN.name}, profile {profile}:\n"
            + "\n".join(differences[:100])
            + f"\nIf that is meant: /usr/bin/python3 tests/escape/{Path(__file__).name} --regenerate",
            pytrace=False,
        )


@pytest.mark.parametrize("profile", PROFILES)
def test_filter_lets_through_what_the_golden_list_says(profile):
    assert_as_golden(probe_alone(profile), profile)


def probe_in_a_jar(**opts):
    script = "exec ./syscall_probe"
    result = harness.run_sh(script, file=[harness.tool("syscall_probe")], timeout="60s", cpu_time="60s", **opts)
    assert result.verdict == "ok", result
    return result


def test_program_gets_through_what_the_golden_list_says(here):
    result = probe_in_a_jar()
    assert_as_golden(parse_probe(result.stdout), "process" if here.level == "process" else "jar")


def test_program_gets_through_what_the_golden_list_says_without_namespaces():
    result = probe_in_a_jar(isolation="process")
    assert result.level == "process"
    assert_as_golden(parse_probe(result.stdout), "process")


def test_golden_list_leaves_no_number_out():
    for profile, rows in read_golden().items():
        for entry in ("native", "i386", "x32"):
            numbers = sorted(int(number) for e, number, _ in rows if e == entry)
            assert numbers == list(range(601)), (profile, entry)


if __name__ == "__main__":
    if sys.argv[1:] != ["--regenerate"]:
        sys.exit(__doc__)
    GOLDEN.write_text(format_golden({profile: probe_alone(profile) for profile in PROFILES}))
    print(f"{GOLDEN} is written: read the difference")
