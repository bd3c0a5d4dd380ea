"""Warm starts of Python: no two embryos of a zygote share anything random, the kind follows from the code, and some
runs are left to the bare interpreter."""

import collections
import json
import re
from concurrent.futures import ThreadPoolExecutor

import pytest

from corpus import pools, wait_up
from harness import PATIENCE, eventually, given_time
from service import ROOMY, Service

KINDS = ("python", "python-std", "python-data")


@pytest.fixture(scope="module")
def warm():
    with Service(*ROOMY) as s:
        wait_up(s, KINDS)
        yield s


def run_many(s, code, n):
    """The output of n runs, read as JSON. None of them was cold."""
    def one(_):
        r = s.run(code)
        assert r["verdict"] == "ok" and r["start"] in ("warm", "hatched"), r
        return json.loads(r["stdout"])

    with ThreadPoolExecutor(8) as pool:
        return list(pool.map(one, range(n)))


def assert_all_distinct(said):
    for name in said[0]:
        values = [str(one[name]) for one in said]
        twice = [v for v, n in collections.Counter(values).items() if n > 1]
        assert not twice, f"{name}: {len(twice)} values of {len(values)} more than once, such as {twice[0][:100]}"


# The first lines decide for the kind: each imports the library that the kind has in advance.
RANDOM = r"""
import json, os, random, secrets, tempfile, uuid
said = {
    "random": random.random(), "random.getrandbits": random.getrandbits(64), "random.gauss": random.gauss(0, 1),
    "random.Random": random.Random().random(), "random.SystemRandom": random.SystemRandom().random(),
    "random.state": hash(random.getstate()), "os.urandom": os.urandom(8).hex(), "secrets": secrets.token_hex(8),
    "uuid4": uuid.uuid4().hex, "uuid1": uuid.uuid1().hex, "tempfile": os.path.basename(tempfile.mktemp()),
    "tempfile.mkdtemp": os.path.basename(tempfile.mkdtemp()),
}
"""
MORE = r"""
import hashlib, multiprocessing.process, ssl
from multiprocessing.util import get_temp_dir
said.update({
    "ssl": ssl.RAND_bytes(8).hex(), "authkey": bytes(multiprocessing.process.current_process().authkey).hex(),
    "multiprocessing": os.path.basename(get_temp_dir()),
})
"""
NUMPY = r"""
import numpy as np
said.update({
    "numpy": np.random.random(), "numpy.bytes": np.random.bytes(8).hex(), "numpy.normal": np.random.standard_normal(),
    "numpy.default_rng": np.random.default_rng().random(), "numpy.RandomState": np.random.RandomState().random_sample(),
    "numpy.state": hash(np.random.get_state()[1].tobytes()),
})
"""
SAY = "print(json.dumps(said))\n"
# Of the thinnest kind: nothing of this is imported before the program does it.
BY_NAME = "\n".join("%s = __import__(%r)" % (m, m)
                    for m in ("json", "os", "random", "secrets", "tempfile", "uuid")) + "\n"


@pytest.mark.release_only  # about Python alone
def test_a_thousand_warm_pythons_have_nothing_random_in_common(warm):
    """Forks of one zygote share no random state."""
    before = pools(warm)["python-std"]["starts"]
    assert_all_distinct(run_many(warm, RANDOM + SAY, 1000))
    after = pools(warm)["python-std"]["starts"]
    assert after["warm"] + after["hatched"] >= before["warm"] + before["hatched"] + 1000


@pytest.mark.release_only  # about Python alone
def test_thin_warm_pythons_have_nothing_random_in_common(warm):
    """Forks of one zygote share no random state."""
    before = pools(warm)["python"]["starts"]["warm"]
    assert_all_distinct(run_many(warm, BY_NAME + RANDOM.split("\n", 2)[2] + SAY, 150))
    assert pools(warm)["python"]["starts"]["warm"] > before


@pytest.mark.release_only  # about Python alone
def test_warm_pythons_with_libraries_have_nothing_random_in_common(warm):
    """Forks of one zygote share no random state."""
    if warm.run("import numpy, pandas")["verdict"] != "ok":
        pytest.skip("numpy and pandas are not installed")
    assert_all_distinct(run_many(warm, RANDOM + MORE + NUMPY + SAY, 100))


@pytest.mark.parametrize("kind, code", [
    ("python", "print(1)"), ("python", "import os, sys\nprint(1)"), ("python-std", "import json\nprint(1)"),
    ("python-std", "from collections import Counter\nprint(1)"), ("python-data", "import numpy as np\nprint(1)"),
    ("python-data", "import json\nfrom pandas import DataFrame\nprint(1)"),
])
def test_the_kind_follows_from_the_imports(warm, kind, code):
    def started():
        return sum(pools(warm)[kind]["starts"].values())

    before = started()
    warm.run(code)
    assert started() == before + 1


def test_the_standard_kind_has_its_modules_without_reading_a_file(warm):
    """The purpose of the kind: these imports open no file."""
    code = ("import sys\nopened = []\nsys.addaudithook(lambda e, a: opened.append(a[0]) if e == 'open' else None)\n"
            "import json, re, random, datetime, dataclasses, typing, collections\nprint(opened)")
    r = warm.run(code)
    assert (r["stdout"], r["start"]) == ("[]\n", "warm") or r["start"] == "hatched", r


@pytest.mark.parametrize("name, value", [
    ("PYTHONHASHSEED", "0"), ("PYTHONPATH", "/tmp"), ("LC_ALL", "C"), ("LANG", "C"), ("HOME", "/tmp"),
    ("OPENBLAS_NUM_THREADS", "2"), ("MPLBACKEND", "svg"), ("LD_PRELOAD", ""),
])
def test_what_the_interpreter_reads_when_it_boots_makes_a_start_cold(warm, name, value):
    """An embryo is booted already, so it cannot obey the variable."""
    assert warm.run("print(1)", env={name: value})["start"] == "cold"
    assert warm.run("print(1)", env={"X" + name: value})["start"] in ("warm", "hatched")


def test_a_guest_sees_nothing_of_the_zygotes_environment(warm):
    """The environment is that of the job alone."""
    code = ("import os, subprocess\nprint(sorted(os.environ))\n"
            "print(subprocess.run(['env'], capture_output=True, text=True).stdout)")
    out = warm.run(code)["stdout"]
    assert "LD_PRELOAD" not in out and "BELLJAR" not in out and "OPENBLAS" not in out


def test_a_guest_has_no_descriptor_but_its_own_three(warm):
    """An embryo passes no descriptor of its own to the guest."""
    code = "import os\nprint(sorted(int(f) for f in os.listdir('/proc/self/fd')))"
    for kind in ("", "import json\n", "import numpy\n"):
        r = warm.run(kind + code)
        assert r["stdout"] == "[0, 1, 2, 3]\n", r  # 3 is the directory itself


def test_a_guest_finds_one_thread_and_an_embryos_own_numbers(warm):
    code = ("import os, re, threading\nprint(re.search(r'Threads:\\s*(\\d+)', open('/proc/self/status').read())[1],"
            " threading.get_native_id() == os.getpid() == threading.main_thread().native_id, os.getpid() > 1)")
    for kind in ("", "import json\n", "import numpy\n"):
        assert warm.run(kind + code)["stdout"] == "1 True True\n"


def test_interrupted_bytes_are_kept(warm):
    """R1.6: the output of a killed run is kept."""
    code = "print('said')\nimport time\ntime.sleep(60)"
    r = given_time(lambda ms: warm.run(code, limits={"wall_ms": ms}), 300, spoke=lambda r: r["stdout"])
    assert (r["stdout"], r["verdict"]) == ("said\n", "timeout"), r


@pytest.mark.release_only
def test_a_waiting_embryo_is_small(warm, as_root):
    """Memory that is its own: at most 4 MiB, and 12 with numpy and pandas."""
    from hostview import descendants

    for kind, code, most in (("python", "print(1)", 4), ("python-std", "import json", 4),
                             ("python-data", "import numpy", 12)):
        warm.run(code)
        assert eventually(lambda k=kind: pools(warm)[k]["ready"] >= 1, 20 * PATIENCE), pools(warm)
    sizes = []
    for pid, *_ in descendants(warm.pid):
        try:
            comm = open(f"/proc/{pid}/comm").read().strip()
            text = open(f"/proc/{pid}/smaps_rollup").read()
        except OSError:
            continue
        if comm == "jar-embryo":
            sizes.append(sum(int(n) for n in re.findall(r"^Private_(?:Dirty|Clean):\s*(\d+)", text, re.M)) / 1024)
    assert sizes and max(sizes) <= 12 and sorted(sizes)[0] <= 4, sizes
