"""Descriptors that a zygote or an embryo had, the warden's socket, the job's, the report's, jars' namespaces, are
closed when guest code begins."""

import json

import pytest

import warm

PYTHON = r'''
import json, os, stat
found = {}
for fd in range(4096):
    try: st = os.fstat(fd)
    except OSError: continue
    found[fd] = os.readlink("/proc/self/fd/%d" % fd).split(":")[0] if not stat.S_ISSOCK(st.st_mode) else "socket"
print(json.dumps(found))
'''
NODE = r'''
const fs = require('fs'), found = {}
for (const fd of fs.readdirSync('/proc/self/fd')) {
  try {
    found[fd] = fs.readlinkSync('/proc/self/fd/' + fd).split(':').slice(0, 2).join(':').replace(/[0-9]+/, 'N')
  } catch (e) {}
}
console.log(JSON.stringify(found))
'''
BASH = r'''
for fd in /proc/$$/fd/*; do [ -L $fd ] && readlink $fd | sed 's/:.*//' | sed "s,^,${fd##*/} ,"; done
'''


@pytest.mark.parametrize("kind", ["", "import json\n", "import numpy\n"])
def test_warm_python_has_three_pipes_and_nothing_else(pooled, kind):
    r = warm.run(pooled, kind + PYTHON)
    if r["verdict"] != "ok":
        pytest.skip("numpy is not installed")
    assert json.loads(r["stdout"]) == {"0": "pipe", "1": "pipe", "2": "pipe"}, r


def test_warm_bash_has_its_pipes_and_its_script(pooled):
    lines = dict(line.split() for line in warm.run(pooled, BASH, "bash")["stdout"].splitlines())
    cold = dict(line.split() for line in pooled.run(BASH, language="bash", read_only=False)["stdout"].splitlines())
    assert lines == cold and {lines[n] for n in "012"} == {"pipe"}, (lines, cold)


def test_warm_node_has_what_a_cold_one_has(pooled):
    found = json.loads(warm.run(pooled, NODE, "node")["stdout"])
    cold = json.loads(pooled.run(NODE, language="node", read_only=False)["stdout"])
    assert sorted(found.values()) == sorted(cold.values()), (found, cold)
    assert not any("socket" in v or "/" in v.replace("/dev/null", "") for v in found.values()), found
