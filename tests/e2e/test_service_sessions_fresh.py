"""Freshness: copies of one session share no random number, however many there are. The group `soak` has 1,000 copies of
each language, the group e2e some hundred in all."""
import json
from concurrent.futures import ThreadPoolExecutor

import pytest
from harness import SOAK
from service import Service
from sessions import checkpoint, copies_of, create, end, execute, output, roll_back, rows, sleep, value

pytestmark = pytest.mark.release_only  # interpreters start cold there: every session would take seconds
COPIES = {"python": 60, "javascript": 40, "bash": 60, "sqlite": 40, "postgres": 8}
BATCH = {"python": 20, "javascript": 10, "bash": 20, "sqlite": 20, "postgres": 4}
BEGIN = {
    "python": """import json, multiprocessing, os, random, secrets, sqlite3, ssl, tempfile, uuid, numpy
db = sqlite3.connect(':memory:'); generator = random.SystemRandom()
def draw(): return json.dumps([
    random.random(), random.getrandbits(60), random.choices('abcdefghijklmnop', k=20), numpy.random.rand(),
    numpy.random.bytes(8).hex(), numpy.random.default_rng().random(), os.urandom(8).hex(), secrets.token_hex(8),
    str(uuid.uuid4()), str(uuid.uuid1()), ssl.RAND_bytes(8).hex(), tempfile.mktemp(), generator.random(),
    multiprocessing.current_process().authkey.hex(), *db.execute('select random(), hex(randomblob(8))').fetchone()])
_ = draw()""",
    "javascript": """const c = require('crypto'), vm = require('vm'), other = vm.createContext({});
const draw = () => JSON.stringify([Math.random(), vm.runInContext('Math.random()', other), c.randomUUID(),
  c.randomInt(2 ** 40), c.randomBytes(8).toString('hex'), crypto.getRandomValues(new Uint32Array(2)).join(),
  c.webcrypto.randomUUID(), fs.mkdtempSync('/tmp/x'),
  c.generateKeySync('hmac', {length: 64}).export().toString('hex')]);
draw(); 0""",
    "bash": "RANDOM=7; draw() { echo \"$RANDOM-$RANDOM-$RANDOM-$RANDOM $SRANDOM-$SRANDOM\"; }; draw",
    "sqlite": "SELECT random(), hex(randomblob(8))",
    "postgres": "SELECT random(), gen_random_uuid()",
}


@pytest.fixture(scope="module")
def service():
    with Service("--set", "runs.max=8", "--set", "pools.preload=used", "--set", "sessions.max=120",
                 "--set", "runs.memory=64g", "--set", "sessions.memory_floor=64m") as s:
        yield s


def draw(service, session, language):
    if language == "python":
        return json.loads(eval(value(service, session, "draw()")))
    if language == "javascript":
        return json.loads(value(service, session, "draw()")[1:-1])
    if language == "bash":
        return output(service, session, "draw").split()
    return rows(service, session, BEGIN[language])[0]


def again(service, session, language):
    """Draws after two rollbacks to one state, and after a sleep."""
    kept = checkpoint(service, session)["id"]
    for _ in range(2):
        roll_back(service, session, kept)
        yield draw(service, session, language)
    sleep(service, session)
    yield draw(service, session, language)


@pytest.mark.parametrize("language", COPIES)
def test_copies_share_no_random_number(service, language):
    wanted = 1000 if SOAK else COPIES[language]
    session = create(service, language, limits={"memory": "1g"})
    assert execute(service, session, BEGIN[language])["status"] == "ok"
    drawn = [draw(service, session, language)]
    with ThreadPoolExecutor(4) as pool:
        while len(drawn) <= wanted:
            copies = copies_of(service, session, count=BATCH[language])
            drawn += pool.map(lambda copy: draw(service, copy, language), copies)
            list(pool.map(lambda copy: end(service, copy), copies))
    drawn += again(service, session, language)
    print(f"{language}: {len(drawn) - 4} copies, {len(drawn[0])} sources")
    for number, values in enumerate(zip(*map(lambda row: map(str, row), drawn), strict=True)):
        assert len(set(values)) == len(values), (language, number, sorted(values)[:20])
    end(service, session)
