"""`belljar languages prepare python` makes matplotlib's list of fonts. A cold program that imports matplotlib has it in
its home directory. Otherwise each such run reads every font: a tenth of a second, and a line on stderr if the
machine is busy."""

import subprocess

import pytest

from harness import belljar
from service import Service

BUILT = "generated new fontManager"
CODE = b"""\
import logging, os
logging.basicConfig(level=logging.INFO)
print(sorted(os.listdir(".")))
import matplotlib.font_manager as f
print(os.path.isfile(os.path.expanduser(f"~/.cache/matplotlib/fontlist-v{f.FontManager.__version__}.json")))
print("MPLCONFIGDIR" in os.environ, os.access(f.findfont("DejaVu Sans"), os.R_OK))
"""


@pytest.fixture(autouse=True)
def prepared():
    if subprocess.run(["/usr/bin/python3", "-c", "import matplotlib"], capture_output=True).returncode != 0:
        pytest.skip("matplotlib is not installed")
    made = belljar("languages", "prepare", "python", within=120)
    if made.status != 0 and "ermission denied" in made.message:
        pytest.skip("the seed cannot be written by this user")
    assert made.status == 0, made


def run_cold(code, *options):
    return belljar("run", "--local", "--json", "--timeout", "60s", *options, "-l", "python", "-", stdin=code,
                   within=120)


def test_cold_program_has_the_fonts_of_matplotlib():
    result = run_cold(CODE)
    assert result.stdout == "['.cache', 'main.py']\nTrue\nFalse True\n", result
    assert BUILT not in result.stderr, result


def test_cold_program_without_matplotlib_finds_nothing_in_its_home():
    result = run_cold(b"import os, json\nprint(os.listdir('.'))\n# import matplotlib\n")
    assert result.stdout == "['main.py']\n", result


@pytest.mark.parametrize("options, there", [
    pytest.param(["--env", "HOME=/tmp"], "['main.py']\n", id="another home"),
    pytest.param(["--files", "999"], "['main.py']\n", id="few files"),
    pytest.param(["--file", f"{__file__}:.cache/own"], "['.cache', 'main.py']\n",
                 id="a directory of its own"),
])
def test_seed_is_left_out_where_it_could_disturb(options, there):
    result = run_cold(CODE, *options)
    assert result.stdout == there + "True\nFalse True\n" and BUILT in result.stderr, result


def test_service_without_pools_has_the_fonts_too():
    with Service("--set", "pools.max=0") as s:
        result = s.run(code=CODE.decode(), language="python", limits={"wall_ms": 60000}, within=90)
    assert result["start"] == "cold" and result["stdout"] == "['.cache', 'main.py']\nTrue\nFalse True\n", result
    assert BUILT not in result["stderr"], result
