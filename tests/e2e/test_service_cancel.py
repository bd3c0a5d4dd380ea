"""A request to end that meets the end of the program: the result is `cancelled`, or it is the whole true result
(JAR_RUN-4). There are 500 races, and 10,000 in the group `soak`."""

import http.client
import json
import random
import signal
import subprocess
import time
from functools import partial

import harness
from harness import PATIENCE
from service import in_threads

RACES = 10000 if harness.SOAK else 100 if harness.ASAN else 500
CLIENTS = 4


class Client:
    """One connection for all requests: a race is a few milliseconds wide."""

    def __init__(self, service):
        self.connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=60 * PATIENCE)

    def ask(self, method, path, body=None):
        self.connection.request(method, path, json.dumps(body) if body is not None else None,
                                {"Content-Type": "application/json"} if body is not None else {})
        reply = self.connection.getresponse()
        return reply.status, json.loads(reply.read() or b"null")

    def finished(self, run_id):
        status, result = self.ask("GET", f"/v1/runs/{run_id}?wait=true")
        assert (status, result["state"]) == (200, "finished"), result
        return result


def race(client, delay):
    body = {"language": "bash", "code": "echo HELLO; echo THERE >&2", "wait": False}
    status, run = client.ask("POST", "/v1/runs", body)
    assert status == 202, run
    time.sleep(delay)
    status, answer = client.ask("DELETE", f"/v1/runs/{run['id']}")
    assert status in (202, 409), answer
    return client.finished(run["id"])


def is_true(result):
    if result["verdict"] == "cancelled":
        return result["exit_code"] == 130
    return (result["verdict"], result["exit_code"], result["stdout"],
            result["stderr"]) == ("ok", 0, "HELLO\n", "THERE\n")


def test_service_cancel_that_meets_the_end_tells_the_truth(service):
    """R1.6"""
    def races(i):
        """Each race comes closer to the end of the program, however busy the machine is."""
        client, chance, delay, results = Client(service), random.Random(i), 0.004, []
        for _ in range(RACES // CLIENTS):
            results.append(race(client, delay * chance.uniform(0.7, 1.3)))
            delay *= 1.1 if results[-1]["verdict"] == "cancelled" else 0.9
        return results

    results = [r for one in in_threads([partial(races, i) for i in range(CLIENTS)], RACES / 8) for r in one]
    verdicts = [r["verdict"] for r in results]
    print({v: verdicts.count(v) for v in set(verdicts)})
    wrong = [r for r in results if not is_true(r)]
    assert not wrong, (len(wrong), wrong[:3])
    assert set(verdicts) == {"ok", "cancelled"}, "no race was close"


def test_batch_that_stops_hits_no_innocent_input(service):
    """R1.8"""
    chance = random.Random(8)
    seen = set()
    for _ in range(max(RACES // 50, 10)):
        body = {"run": {"language": "bash", "code": "read n; sleep $n; echo HELLO; [ $n != 0.03 ]"},
                "inputs": [{"stdin": "0.03\n", "expected": "HELLO"},
                           *({"stdin": f"{chance.uniform(0.025, 0.04):.4f}\n", "expected": "HELLO"} for _ in range(4)),
                           {"stdin": "5\n", "expected": "HELLO"}],
                "parallel": 6, "stop_on_failure": True}
        reply = service.post("/v1/batches", body).json
        for r in reply["results"][1:]:
            seen.add(r.get("verdict", r["state"]))
            if r.get("verdict") == "ok":
                assert (r["passed"], r["stdout"]) == (True, "HELLO\n"), r
            else:
                assert r.get("verdict", r["state"]) in ("cancelled", "skipped"), r
                assert r.get("passed") is None and "difference" not in r, r
        assert reply["summary"]["failed"] == 1, reply["summary"]
    print(seen)
    assert "cancelled" in seen


def test_ctrl_c_that_meets_the_end_tells_the_truth(service, public_path):
    """The command line, by the service and without it."""
    program = public_path / "p.sh"
    program.write_text("echo HELLO\n")
    chance, seen = random.Random(3), set()
    for i in range(max(RACES // 20, 20)):
        where = [] if i % 2 else ["--local"]
        environ = {**service.environ, "BELLJAR_STATE": str(service.state)}
        with subprocess.Popen([harness.BELLJAR, "run", *where, str(program)], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environ,
                              start_new_session=True) as running:
            time.sleep(chance.uniform(0.002, 0.03))
            running.send_signal(signal.SIGINT)
            out, err = running.communicate(timeout=30 * PATIENCE)
        seen.add(running.returncode)
        assert (running.returncode, out) == (0, b"HELLO\n") or running.returncode in (130, -signal.SIGINT), (out, err)
    print(seen)
