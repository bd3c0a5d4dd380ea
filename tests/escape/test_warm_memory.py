"""A zygote that saw a job would show it to all later guests. So the data of an earlier guest must be nowhere in the
memory of a later one."""

import secrets

import pytest

import warm

# Everything of its own that a process can read, but not the needle itself, which comes in two halves.
SCAN = r'''
import os, sys
first, second = sys.stdin.read().split()
needle = (first + second).encode()
del second
found, looked = [], 0
own = id(needle), id(needle) + len(needle) + 64
for line in open("/proc/self/maps"):
    span, mode = line.split()[:2]
    if "r" not in mode or "[v" in line:
        continue
    low, high = (int(n, 16) for n in span.split("-"))
    with open("/proc/self/mem", "rb", 0) as mem:
        mem.seek(low)
        while low < high:
            try: block = mem.read(min(high - low, 1 << 20))
            except OSError: break
            at = block.find(needle)
            while at >= 0:
                if not own[0] <= low + at < own[1] and not any(low <= o < low + len(block) for o in (id(block),)):
                    found.append(line.split()[-1])
                at = block.find(needle, at + 1)
            looked += len(block)
            low += len(block)
for name in ("environ", "cmdline", "auxv", "comm", "stat", "status", "mountinfo"):
    with open("/proc/self/" + name, "rb") as f:
        if needle in f.read(): found.append(name)
print(looked > 1 << 20, found)
'''


def canaries(s, language):
    """A secret that went into a run by every way there is."""
    secret = secrets.token_hex(16)
    code = {"python": """\
import os, sys
x = sys.stdin.read() + os.environ['S'] + open('f').read() + %r
print(len(x), sys.argv)""",
            "node": "console.log(process.env.S, require('fs').readFileSync('f') + %r)",
            "bash": "x=$(cat)$S$(cat f)%s; echo ${#x}"}[language] % secret
    warm.run(s, code, language, stdin=secret, env={"S": secret}, args=[secret],
             files=[{"name": "f", "content": secret}])
    return secret


@pytest.mark.parametrize("language", ["python", "node", "bash"])
def test_warm_guest_has_nothing_of_an_earlier_one_in_its_memory(pooled, language):
    secret = canaries(pooled, language)
    for kind in ("", "import json\n"):
        r = warm.run(pooled, kind + SCAN, stdin=f"{secret[:16]} {secret[16:]}")
        assert (r["verdict"], r["stdout"]) == ("ok", "True []\n"), r


def test_warm_scan_finds_what_is_there(pooled):
    """Or the test above would prove nothing."""
    secret = secrets.token_hex(16)
    r = warm.run(pooled, SCAN, stdin=f"{secret[:16]} {secret[16:]}", env={"S": secret})
    assert r["verdict"] == "ok" and r["stdout"] != "True []\n", r
