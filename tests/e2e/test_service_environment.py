"""The environment that came with a job is the program's however it looks at it, and its children's, in warm starts as
in cold ones."""

import json

import pytest

from corpus import wait_up
from service import ROOMY, Service

GIVEN = {"MY_VAR": "one two=three", "EMPTY": "", "UNI": "ä☃", "PATH_LIKE": "/a:/b"}

PYTHON = """
import ctypes, json, os, subprocess
libc = ctypes.CDLL(None)
libc.getenv.restype = ctypes.c_char_p
names = {names}
native = {{n: libc.getenv(n.encode()) for n in names}}
child = dict(row.split(b"=", 1) for row in subprocess.run(["env", "-0"], capture_output=True).stdout.split(b"\\0")
             if row)
shell = subprocess.run(["bash", "-c", 'printf %s "$MY_VAR"'], capture_output=True).stdout.decode()
print(json.dumps({{"own": {{n: os.environ.get(n) for n in names}},
                   "native": {{n: v is not None and v.decode() for n, v in native.items()}},
                  "child": {{n: child.get(n.encode(), b"-").decode() for n in names}}, "shell": shell,
                  "all": sorted(os.environ) == sorted(k.decode() for k in child)}}))
"""
NODE = """
const {{ execFileSync }} = require('child_process');
const names = {names};
const rows = execFileSync('env', ['-0']).toString().split('\\0').filter(Boolean)
  .map((r) => [r.slice(0, r.indexOf('=')), r.slice(r.indexOf('=') + 1)]);
const child = Object.fromEntries(rows);
const of = (o) => Object.fromEntries(names.map((n) => [n, o[n]]));
const native = Object.fromEntries(names.map((n) => [n, process.report.getReport().environmentVariables[n]]));
console.log(JSON.stringify({{ own: of(process.env), native, child: of(child),
  shell: execFileSync('bash', ['-c', 'printf %s "$MY_VAR"']).toString(),
  all: Object.keys(process.env).sort().join() === Object.keys(child).sort().join() }}));
"""
BASH = """
row() {{
  printf '"%s":{{' "$1"; sep=
  for n in {words}; do printf '%s"%s":"%s"' "$sep" "$n" "$($2 "$n")"; sep=,; done
  printf '}},'
}}
own() {{ printf %s "${{!1}}"; }}
exported() {{ [ "$(declare -p "$1")" = "declare -x $1=\\"${{!1}}\\"" ] && own "$1"; }}
child() {{ printenv "$1"; }}
printf '{{'
row own own; row native exported; row child child
own=$(compgen -e | grep -v '^_$' | sort)
seen=$(env -0 | tr '\\n\\0' ' \\n' | cut -d= -f1 | grep -v '^_$' | sort)
printf '"shell":"%s","all":%s}}\\n' "$(bash -c 'printf %s "$MY_VAR"')" "$([ "$own" = "$seen" ] && echo true)"
"""
NAMES = json.dumps(list(GIVEN))
PROGRAMS = {"python": PYTHON.format(names=NAMES), "javascript": NODE.format(names=NAMES),
            "typescript": NODE.format(names=NAMES).replace("const names =", "const names: string[] ="),
            "bash": BASH.format(words=" ".join(GIVEN))}


@pytest.fixture(scope="module")
def s():
    with Service(*ROOMY, "--set", "pools.preload=python,python-std,node,typescript,bash") as service:
        wait_up(service, ("python", "python-std", "node", "typescript", "bash"))
        yield service


@pytest.mark.parametrize("start", ["warm", "cold"])
@pytest.mark.parametrize("language", PROGRAMS)
def test_environment_is_the_jobs_however_it_is_looked_at(s, language, start):
    options = {"read_only": False} if start == "cold" else {}
    r = s.run(PROGRAMS[language], language=language, env=GIVEN, **options)
    assert (r["start"] == "cold") == (start == "cold") and r["verdict"] == "ok", r
    seen = json.loads(r["stdout"])
    assert seen == {"own": GIVEN, "native": GIVEN, "child": GIVEN, "shell": GIVEN["MY_VAR"], "all": True}, r["stdout"]
