"""Every embryo of Node is a process of its own: it shares no random number, no start time and no process number with
another."""

import json
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from corpus import pools, wait_up
from harness import PATIENCE, SOAK, eventually
from service import ROOMY, Service

JARS = 300 if SOAK else 100
AT_A_TIME = 4
# One line of JSON: everything that is drawn from a generator whose state a fork copies, in all the ways to get at it.
DRAW = """
const crypto = require('crypto'), vm = require('vm'), { Worker } = require('worker_threads');
const seen = {
  math: Math.random(), math2: Math.random(), vm: vm.runInNewContext('Math.random()'),
  bytes: crypto.randomBytes(16).toString('hex'), uuid: crypto.randomUUID(), int: crypto.randomInt(2 ** 47),
  web: Buffer.from(crypto.webcrypto.getRandomValues(new Uint8Array(16))).toString('hex'),
  key: crypto.generateKeyPairSync('ed25519').publicKey.export({ type: 'spki', format: 'der' }).toString('hex'),
  origin: performance.timeOrigin,
};
const more = { before: Date.now(), now: performance.now(), uptime: process.uptime(), after: Date.now() };
new Worker('require("worker_threads").parentPort.postMessage(Math.random())', { eval: true })
  .on('message', (n) => { seen.worker = n; console.log(JSON.stringify({ seen, more })); });
"""


@pytest.fixture(scope="module")
def service():
    with Service(*ROOMY, "--set", "pools.preload=node") as s:
        wait_up(s, ("node",))
        yield s


def run(s, code, **fields):
    result = s.run(code=code, language="javascript", **fields)
    assert result["verdict"] == "ok", result
    return result


@pytest.fixture(scope="module")
def draws(service):
    def one(_):
        result = run(service, DRAW)
        return result["start"], json.loads(result["stdout"])
    with ThreadPoolExecutor(AT_A_TIME) as pool:
        drawn = list(pool.map(one, range(JARS)))
    warm = [d for start, d in drawn if start in ("warm", "hatched")]
    assert len(warm) == JARS, [start for start, _ in drawn]
    return warm


@pytest.mark.release_only  # about Node alone
@pytest.mark.parametrize("what", ["math", "math2", "vm", "worker", "bytes", "uuid", "int", "web", "key"])
def test_no_two_jars_draw_the_same(draws, what):
    assert len({d["seen"][what] for d in draws}) == JARS


def test_math_random_is_not_drawn_twice_anywhere(draws):
    """Not the same sequence a step later either."""
    drawn = [d["seen"][what] for d in draws for what in ("math", "math2", "vm", "worker")]
    assert len(set(drawn)) == len(drawn)


def test_time_begins_with_the_job(draws):
    assert len({d["seen"]["origin"] for d in draws}) == JARS
    for d in draws:
        assert 0 < d["more"]["now"] < 5000 and 0 < d["more"]["uptime"] < 5
        assert d["more"]["before"] - 50 < d["seen"]["origin"] + d["more"]["now"] < d["more"]["after"] + 50


def test_time_begins_with_the_job_however_long_it_was_waited_for(service):
    """The embryo has been there for two seconds when its job comes."""
    def of_one_that_waited():
        """None when it was forked on demand. The statistics of pools may be older than the last run that took one."""
        assert eventually(lambda: pools(service)["node"]["ready"] >= 1, 20), pools(service)
        time.sleep(2)
        result = run(service, "console.log(performance.now(), process.uptime() * 1000)")
        return result if result["start"] == "warm" else None

    result = eventually(of_one_that_waited, 30)
    assert result and all(float(word) < 1500 for word in result["stdout"].split()), result


def test_no_descriptor_is_shared_between_jars(service):
    """Event loops, wakeups and pipes are told apart by their numbers, which the kernel gives out once."""
    code = ("const fs = require('fs'); console.log(JSON.stringify(fs.readdirSync('/proc/self/fd').map((fd) => "
            "{ try { return fs.readlinkSync('/proc/self/fd/' + fd); } catch { return ''; } }).filter((l) => "
            "l.startsWith('pipe:'))))")
    seen = [set(json.loads(run(service, code)["stdout"])) for _ in range(5)]
    assert all(len(pipes) > 3 for pipes in seen)
    assert len(set.union(*seen)) == sum(map(len, seen))


def test_threads_of_v8_work_in_a_jar(service):
    """Code is optimized, compiled and collected on threads that were stopped before the fork."""
    code = """
    const ms = () => performance.now();
    let big = []; for (let i = 0; i < 400000; i++) big.push({ i, a: [i] });
    big = big.filter((o) => o.i % 2); const { port1, port2 } = new MessageChannel();
    WebAssembly.compile(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0])).then(() => {
      console.log(big.length, require('fs').readdirSync('/proc/self/task').length > 4);
    });
    """
    assert run(service, code)["stdout"] == "200000 true\n"


def test_short_of_processes_is_short_of_processes(service):
    """A limit that Node cannot start with is met by the bare interpreter, not by us."""
    limits = {"pids": 3, "wall_ms": 3000 * PATIENCE}  # Node waits for its threads for ever
    result = service.run(code="console.log(1)", language="javascript", limits=limits)
    with Service(*ROOMY, "--set", "pools.max=0") as cold:
        bare = cold.run(code="console.log(1)", language="javascript", limits=limits)
    assert (result["verdict"], result["exit_code"],
            result["signal"]) == (bare["verdict"], bare["exit_code"], bare["signal"])
