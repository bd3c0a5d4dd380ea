"""A warm run of Python is `python3 main.py` to the byte. Every program of tests/data/exact/python runs from a pool
and in a service without pools, where each run starts the interpreter. The results must be the same."""

import base64
import json
import re
import shutil
import signal
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from corpus import thinned, wait_up
from harness import PATIENCE, REPO, belljar
from service import ROOMY, Service

CORPUS = REPO / "tests/data/exact/python"
NAMES = thinned(sorted(path.stem for path in CORPUS.glob("*.py")))
COMPARED = ("stdout", "stderr", "exit_code", "signal", "verdict", "stdout_bytes", "stderr_bytes", "limits_hit")
# A cold import of a large library takes long on a busy machine. Nothing here is about time.
LIMITS = {"wall_ms": 120000, "cpu_ms": 30000, "memory": 512 << 20}
AT_A_TIME = 6
KINDS = ("python", "python-std", "python-data")
ADDRESS = re.compile(r"\b0x[0-9a-f]{6,16}\b")
# Where the machine has no such libraries there is nothing to compare.
LIBRARIES = {name: name.split("_")[0] for name in NAMES
             if name.split("_")[0] in ("numpy", "pandas", "scipy", "matplotlib", "plotly")}
LIBRARIES["data_loud_end"] = "pandas"


class Program:
    def __init__(self, name):
        side = CORPUS / f"{name}.json"
        self.name = name
        self.side = json.loads(side.read_text()) if side.exists() else {}
        self.source = (CORPUS / f"{name}.py").read_bytes()
        if "source" in self.side:
            self.source = base64.b64decode(self.side["source"])
        self.main = self.side.get("name", "main.py")
        self.env = self.side.get("env", {})
        self.args = self.side.get("args", [])
        self.stdin = self.side.get("stdin", "")

    def files(self):
        """Name to bytes, with the program itself."""
        files = {k: v.encode() if isinstance(v, str) else base64.b64decode(v["base64"])
                 for k, v in self.side.get("files", {}).items()}
        return {self.main: self.source, **files}

    def run_in(self, s):
        files = self.files()
        how = {"entry": self.main}
        if self.main == "main.py" and "source" not in self.side:  # as most requests are; the kind follows from the code
            how = {"code": files.pop("main.py").decode()}
        files = {k: {"content": base64.b64encode(v).decode(), "encoding": "base64"} for k, v in files.items()}
        return s.run(**how, files=files, language="python", args=self.args, env=self.env, stdin=self.stdin,
                     limits=LIMITS,
                     within=150)


def run_all(s):
    with ThreadPoolExecutor(AT_A_TIME) as pool:
        return dict(zip(NAMES, pool.map(lambda name: Program(name).run_in(s), NAMES)))


@pytest.fixture(scope="module")
def runs():
    """(warm, cold) results by name."""
    # A cold matplotlib without its list of fonts complains on stderr if making the list takes 5 s. A user who may not
    # write the list compares without it.
    belljar("languages", "prepare", "python", within=120)
    with Service(*ROOMY) as warm:
        wait_up(warm, KINDS)
        from_pool = run_all(warm)
    with Service(*ROOMY, "--set", "pools.max=0") as cold:
        return from_pool, run_all(cold)


def comparable(result):
    """Addresses of objects differ between any two runs."""
    seen = {field: result[field] for field in COMPARED}
    for stream in ("stdout", "stderr"):
        seen[stream] = ADDRESS.sub("0x~", seen[stream])
    return seen


def need_library(name):
    library = LIBRARIES.get(name)
    if library and subprocess.run(["/usr/bin/python3", "-c", f"import {library}"], capture_output=True).returncode != 0:
        pytest.skip(f"{library} is not installed")


@pytest.mark.parametrize("name", NAMES)
def test_warm_python_is_the_bare_interpreter(runs, name):
    need_library(name)
    warm, cold = (results[name] for results in runs)
    assert cold["start"] == "cold", cold
    assert warm["start"] in (("cold",) if Program(name).side.get("start") == "cold" else ("warm", "hatched")), warm
    assert comparable(warm) == comparable(cold)


# ---- against the interpreter of this machine, with nothing of ours around it ----

# Names of programs that show nothing but the interpreter: no limits, users, processes or paths of a jar.
PLAIN = [name for name in NAMES
         if name.startswith(("traceback_", "syntax_", "warnings_", "exit_", "atexit_", "del_", "generators_", "argv_",
                             "name_",
                             "main_", "stdio_", "import_", "stdin_", "weakref_", "thread_", "asyncio_", "source_",
                             "encoding_"))
         and Program(name).side.get("start") != "cold"]


def run_bare(program):
    """The same by the shortest way there is: a directory, and execve."""
    home = tempfile.mkdtemp(prefix="jartest-")
    try:
        for name, content in program.files().items():
            path = Path(home, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        env = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": home, "PWD": home, "TMPDIR": "/tmp", "USER": "sandbox",
               "LOGNAME": "sandbox", "LANG": "C.UTF-8", "PYTHONUNBUFFERED": "1", "PYTHONDONTWRITEBYTECODE": "1",
               **program.env}
        main = ("./" if program.main.startswith("-") else "") + program.main
        done = subprocess.run(["/usr/bin/python3", main, *program.args], input=program.stdin.encode(),
                              capture_output=True,
                              cwd=home, env=env, timeout=30 * PATIENCE, start_new_session=True)
    finally:
        shutil.rmtree(home, ignore_errors=True)
    return done.returncode, *(ADDRESS.sub("0x~", b.decode("utf-8", "replace").replace(home, "/sandbox"))
                              for b in (done.stdout, done.stderr))


@pytest.mark.parametrize("name", PLAIN)
def test_warm_python_is_this_machines_own(runs, name):
    warm = runs[0][name]
    status, stdout, stderr = run_bare(Program(name))
    ours = comparable(warm)
    number = -getattr(signal, warm["signal"]) if warm["signal"] else warm["exit_code"]
    assert (number, ours["stdout"], ours["stderr"]) == (status, stdout, stderr)
