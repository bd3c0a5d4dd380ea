"""Exactness: cells that follow a fork, a rollback or a sleep have the outcome that they have without it.

Each sequence of cells of tests/data/sessions runs in two sessions. One of them is cut at random points: it goes on as a
copy of itself, after a rollback over cells that spoil it, or after a sleep on the disk. Every later outcome of the two
must be equal, but for addresses, process ids, times and random names. $BELLJAR_TEST_SEED chooses other points."""
import json
import os
import random
import re
from concurrent.futures import ThreadPoolExecutor

import pytest
from cells import DATA, groups
from harness import SOAK
from service import Service
from sessions import create, end, execute, images, place, roll_back

pytestmark = pytest.mark.release_only  # thousands of cells of interpreters, which are not ours
SEED = int(os.environ.get("BELLJAR_TEST_SEED", "1"))
AT_A_TIME = 3
# How often the sequences of each language are cut in all.
CUTS = {"python": 170, "javascript": 110, "typescript": 50, "bash": 120, "sqlite": 75, "postgres": 30}
# The cells take longer than the cuts. So the group e2e takes only some sequences, by chance, which are long enough for
# so many cells a cut; the group soak takes all.
CELLS_A_CUT = 1.5
# Most refusals are put off to the next cell. At the end of a sequence there is none.
REFUSED_AT_MOST = 0.08
KINDS = ("fork", "rollback", "sleep")
MEMORY = {"python": "1g", "javascript": "1g", "typescript": "1g"}
NODE_JUNK = """Object.prototype.spoilt = 1; Array.prototype.map = null; process.env.PATH = ''; process.umask(0o777);
for (const name of fs.readdirSync('.')) fs.rmSync(name, {recursive: true});
process.chdir('/'); for (const name of ['a', '_', 'Map', 'Promise']) delete globalThis[name];
setInterval(() => {}, 1)"""
# A cell that every later one would notice.
JUNK = {
    "python": "import builtins, os, shutil\nfor name in os.listdir('.'):\n"
              "    shutil.rmtree(name) if os.path.isdir(name) else os.remove(name)\n"
              "os.chdir('/'); os.umask(0o777); os.environ.clear(); del builtins.len\n%reset -f",
    "javascript": NODE_JUNK, "typescript": NODE_JUNK,
    "bash": "rm -rf ./*; cd /; unset x a m s v1; unset -f f g fact; set -fC -- junk; shopt -s nullglob; umask 777\n"
            "alias echo=false; trap 'exit 9' USR1; IFS=x; PATH=",
    "sqlite": "PRAGMA case_sensitive_like = ON; CREATE TABLE junk(x); DROP TABLE IF EXISTS users; "
              "DROP TABLE IF EXISTS t; DROP TABLE IF EXISTS u; BEGIN",
    "postgres": "DROP SCHEMA public CASCADE; SET search_path = nothing; CREATE TEMP TABLE junk(x int); BEGIN",
}


@pytest.fixture(scope="module")
def service():
    with Service("--set", "runs.max=8", "--set", "pools.preload=used", "--set", "sessions.max=24",
                 "--set", "runs.memory=16g") as s:
        yield s


def sequences(language):
    """[(name, [code])]: the corpora of the differential tests, and state that is easily lost."""
    family = "javascript" if language == "typescript" else language
    own = groups(f"cuts/{family}.cells")
    if language == "python":
        return own + [(path.stem, path.read_text().rstrip("\n").split("\n#---\n"))
                      for path in sorted((DATA / "python").glob("*.cells"))]
    return own + groups(("node" if family == "javascript" else language) + ".cells")


def outcome(cell):
    seen = {"status": cell["status"], "count": cell["execution_count"], "result": cell["result"],
            "error": cell["error"], "displays": cell["displays"], "stdout": cell["stdout"], "stderr": cell["stderr"]}
    text = json.dumps(seen, sort_keys=True, ensure_ascii=False)
    text = re.sub(r"0x[0-9a-f]+|[0-9a-f]{10,}", "#", text)
    return re.sub(r" +\d+ Killed", " PID Killed", text)


def cut(service, session, language, how):
    """The session that goes on. None: something cannot be carried at this point, and the request was refused for it."""
    word = {"fork": "fork", "rollback": "checkpoints", "sleep": "sleep"}[how]
    reply = service.post(f"{place(session)}/{word}", {"strict": True})
    if reply.status == 409 and "would lose" in reply.error["message"]:
        return None
    assert reply.status in (200, 201), (how, reply)
    if how == "fork":
        end(service, session)
        return reply.json["sessions"][0]["id"]
    if how == "rollback":
        execute(service, session, JUNK[language])
        roll_back(service, session, reply.json["id"])
        assert service.delete(f"{place(session)}/checkpoints/{reply.json['id']}").status == 200
    return session


class Sequence:
    """The cells of one sequence in two sessions."""

    def __init__(self, language, name, cells, cuts):
        self.language, self.name, self.cells, self.cuts = language, name, cells, dict(cuts)
        self.made, self.refused, self.difference = [], 0, None

    def run(self, service):
        fields = {"limits": {"memory": MEMORY[self.language]}} if self.language in MEMORY else {}
        plain, moving = (create(service, self.language, **fields) for _ in range(2))
        due = []
        for i, code in enumerate(self.cells):
            due += self.cuts.get(i, [])
            if due:
                after = cut(service, moving, self.language, due[-1])
                self.refused += after is None
                if after:
                    moving = after
                    self.made.append((i, due.pop()))
            expected, found = (outcome(execute(service, s, code)) for s in (plain, moving))
            if found != expected:
                self.difference = (f"{self.language}, {self.name}, cell {i} after cuts {self.made[-4:]}: {code}\n"
                                   f"  uncut {expected}\n  cut   {found}")
                break
        end(service, plain)
        end(service, moving)
        return self


def cut_points(language, count, chance):
    """{name of a sequence: {index of a cell: [kind]}}; each kind as often as another."""
    all_sequences = sequences(language)
    chance.shuffle(all_sequences)
    places = []
    for name, cells in all_sequences:
        if SOAK or len(places) < count * CELLS_A_CUT:
            places += [(name, i) for i in range(1, len(cells))]
    kinds = [KINDS[n % len(KINDS)] for n in range(count)]
    chance.shuffle(kinds)
    points = {}
    for (name, i), kind in zip(chance.sample(places, count), kinds, strict=True):
        points.setdefault(name, {})[i] = [kind]
    return points


@pytest.mark.parametrize("language", CUTS)
def test_cells_after_cuts_go_on_exactly(service, language):
    chance = random.Random(f"{SEED} {language}")
    points = cut_points(language, CUTS[language], chance)
    jobs = [Sequence(language, name, cells, points[name]) for name, cells in sequences(language) if name in points]
    with ThreadPoolExecutor(AT_A_TIME) as pool:
        done = list(pool.map(lambda job: job.run(service), jobs))
    differences = [job.difference for job in done if job.difference]
    assert not differences, f"seed {SEED}\n" + "\n".join(differences)
    made = sum(len(job.made) for job in done)
    print(f"{language}: {made} cuts of {sum(len(job.cells) for job in done)} cells, "
          f"{sum(job.refused for job in done)} put off, seed {SEED}")
    assert made >= CUTS[language] * (1 - REFUSED_AT_MOST)
    assert images(service) == []


def test_the_cuts_are_at_least_five_hundred():
    assert sum(CUTS.values()) * (1 - REFUSED_AT_MOST) >= 500
