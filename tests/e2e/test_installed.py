"""`meson install` copies everything that belljar needs: its drivers and our files for jars are found from the
installed place."""

import os
import shutil
import subprocess

import pytest

import harness
from harness import belljar, public_dir
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
