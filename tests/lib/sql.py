"""Helpers of the SQL tests: PostgreSQL prepared for jars, and requests."""

import contextlib
import glob
import os
import pathlib
import shutil
import subprocess
import tempfile

import pytest

from harness import REPO, belljar, eventually, public_dir

GUEST = REPO / "build" / "guest"
NAMES = {"sqlite": "main.sql", "postgres": "main.pgsql"}
LANGUAGES = sorted(NAMES)


def prepare():
    """PostgreSQL's data directory, made as `belljar languages prepare` makes it, where there is none yet."""
    if not glob.glob("/usr/lib/postgresql/*/bin/postgres") or not (GUEST / "postgres" / "postgres").exists():
        pytest.skip("PostgreSQL is not installed: scripts/install-deps build run")
    if not (GUEST / "postgres" / "seed" / "data.tar").exists():
        made = belljar("languages", "prepare", "postgres", within=120)
        assert made.status == 0, made


def ask(code, lang="sqlite", files=(), args=(), fmt=None, stdin=None, json=True, options=(), within=60):
    """A finished `belljar run` of a script; files: {name in the jar: text}."""
    if lang == "postgres":
        prepare()
    here = public_dir()
    try:
        main = here / NAMES[lang]
        main.write_bytes(code if isinstance(code, bytes) else code.encode())
        argv = ["run", "-l", lang, *(["--json"] if json else []), *(["--format", fmt] if fmt else []), *options]
        for i, (name, text) in enumerate(dict(files).items()):
            path = here / f"file{i}"
            path.write_bytes(text if isinstance(text, bytes) else text.encode())
            argv += ["--file", f"{path}:{name}"]
        argv += [str(main), *(["--", *args] if args else [])]
        return belljar(*argv, stdin=stdin, within=within)
    finally:
        shutil.rmtree(here)


def rows(result, table=0):
    return result.json["tables"][table]["rows"]


def types(result, table=0):
    return {c["name"]: c["type"] for c in result.json["tables"][table]["columns"]}


@contextlib.contextmanager
def server_outside():
    """A PostgreSQL server without a jar, for comparisons. Yields the words that begin a psql."""
    binaries = max(glob.glob("/usr/lib/postgresql/*/bin"), default=None)
    if not binaries or not shutil.which("psql"):
        pytest.skip("PostgreSQL is not installed: scripts/install-deps run")
    who = {"user": "nobody", "group": "nogroup", "extra_groups": []} if os.getuid() == 0 else {}
    with tempfile.TemporaryDirectory() as home:
        data = pathlib.Path(home) / "data"
        data.mkdir()
        if who:
            os.chmod(home, 0o755)
            shutil.chown(data, "nobody", "nogroup")
        begun = {**who, "cwd": data, "env": {"LC_ALL": "C.UTF-8", "PATH": "/usr/bin:/bin"}, "stdin": subprocess.DEVNULL}
        words = ["--no-sync", "-A", "trust", "-U", "postgres", "-E", "UTF8", "-D", data / "db"]
        subprocess.run([f"{binaries}/initdb", *words], check=True, stdout=subprocess.DEVNULL, timeout=300, **begun)
        server = subprocess.Popen([f"{binaries}/postgres", "-D", data / "db", "-k", data, "-h", "", "-F"],
                                  stderr=subprocess.DEVNULL, **begun)
        try:
            psql = ["/usr/bin/psql", "-X", "-h", str(data), "-U", "postgres", "postgres"]
            question = [*psql, "-c", "SELECT 1"]
            assert eventually(lambda: subprocess.run(question, capture_output=True, timeout=60).returncode == 0)
            yield psql
        finally:
            server.terminate()
            server.wait(60)
