"""`meson install` copies everything that belljar needs: its drivers and our files for jars are found from the
installed place."""

import os
import re
import shutil
import subprocess

import pytest

import harness
from harness import REPO, belljar, public_dir
from service import Service, eventually

pytestmark = pytest.mark.release_only  # a script lays the files out, and the build variant makes no difference


@pytest.fixture(scope="module")
def installed():
    place = public_dir()
    done = subprocess.run(["meson", "install", "-C", os.environ["BELLJAR_BUILD"], "--no-rebuild", "--quiet",
                           "--destdir", place],
                          capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    program, = place.rglob("bin/belljar")
    before, harness.BELLJAR = harness.BELLJAR, str(program)
    yield program
    harness.BELLJAR = before
    shutil.rmtree(place, ignore_errors=True)


@pytest.mark.parametrize("lang, code, out", [
    ("typescript", "const n: number = 2;\nconsole.log(n);", "2\n"),
    ("sqlite", "select 1 as one;", " one\n-----\n   1\n(1 row)\n"),
    ("java", "class Main { public static void main(String[] a) { System.out.println(3); } }", "3\n"),
])
def test_installed_program_has_what_languages_need(installed, lang, code, out):
    r = belljar("run", "--local", "--json", "-l", lang, "-", stdin=code.encode(), within=60)
    assert r.json["verdict"] == "ok" and r.json["stdout"] == out, r


def test_installed_service_has_its_drivers(installed):
    with Service("--set", "pools.preload=python") as s:
        assert eventually(lambda: s.run("print(1)")["start"] == "warm", 30), s.log()


@pytest.fixture(scope="module")
def compile_with_library(installed):
    """Compiles a file as a user does, with the installed header and library."""
    root = installed.parents[3]
    pc, = root.rglob("belljar.pc")
    env = {**os.environ, "PKG_CONFIG_PATH": str(pc.parent), "PKG_CONFIG_SYSROOT_DIR": str(root),
           "LD_LIBRARY_PATH": str(pc.parents[1]), "BELLJAR": str(installed)}
    flags = subprocess.run(["pkg-config", "--cflags", "--libs", "belljar"], env=env, capture_output=True, text=True,
                           check=True).stdout.split()
    assert [str(p.relative_to(root)) for p in root.rglob("*.h")] == ["usr/local/include/belljar.h"]

    def compile_and_run(source, *args, compiler=("cc",), within=60):
        program = root / "program"
        made = subprocess.run([*compiler, "-Wall", "-Wextra", "-Werror", str(source), "-o", str(program), "-pthread",
                               *flags], env=env, capture_output=True, text=True)
        assert made.returncode == 0, made.stderr
        return subprocess.run([program, *args], env=env, capture_output=True, text=True, timeout=within)

    return compile_and_run


def test_the_header_of_the_library_is_for_cpp_too(compile_with_library):
    done = compile_with_library(REPO / "tests/library/library_probe.c", "open", "/nonexistent/socket",
                                compiler=("g++", "-std=c++11", "-pedantic", "-x", "c++"))
    assert done.stdout.startswith("11 connect to the service at /nonexistent/socket"), done


def test_the_example_of_the_library_runs(compile_with_library):
    done = compile_with_library(REPO / "examples/embed/embed.c", str(REPO / "examples/hello.py"))
    assert done.returncode == 0 and done.stdout.startswith("Hello from Python"), done
    assert "verdict: ok\nIn:  ages = [31, 45, 27]\nIn:  sorted(ages)[1]\nOut: 31\n" in done.stdout
    makefile = (REPO / "examples/embed/Makefile").read_text()
    assert "pkg-config --cflags belljar" in makefile and "pkg-config --libs belljar" in makefile


def test_the_example_in_the_document_of_the_library_is_true(compile_with_library, tmp_path):
    document = (REPO / "docs/library.md").read_text()
    code, = re.findall(r"```c skip.*?\n(.*?)```", document, re.S)
    (tmp_path / "sum.c").write_text(code)
    done = compile_with_library(tmp_path / "sum.c")
    assert done.returncode == 0 and f"$ ./sum\n{done.stdout}```" in document, done
