"""Helpers of the SQL tests: PostgreSQL prepared for jars, and requests."""

import glob
import shutil

import pytest

from harness import REPO, belljar, public_dir

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
