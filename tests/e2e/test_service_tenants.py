"""Two keys of one service. mallory misuses all that a key may do, at once and without a pause; alice works. Each result
of alice is the one that she would have had alone, and nothing of hers is lost, read or changed.

The group `soak` goes on for $BELLJAR_TEST_SOAK_SECONDS (600), the group e2e for some seconds."""

import http.client
import json
import os
import threading
import time

import harness
from harness import SOAK, eventually
from service import Reply, Service

SECONDS = float(os.environ.get("BELLJAR_TEST_SOAK_SECONDS", "600")) if SOAK else 8
LIMITS = {"wall_ms": int(10000 * harness.PATIENCE), "cpu_ms": 10000}
SETTINGS = {"http.max_connections": 64, "history.max_bytes": "16m", "artifacts.max_bytes_per_key": "4m",
            "runs.max": 8, "runs.queue": 64, "http.max_body": "16m"}
KEPT = 1000  # rounds that fit into her half of the history, even if each of their two runs took 4 KiB

# Programs that spoil files that guests share, or use up their limits.
LOCKS = """
import fcntl, os, time
held = []
for top, _, files in os.walk("/opt/belljar"):
    for path in [top] + [os.path.join(top, f) for f in files]:
        try:
            held.append(os.open(path, os.O_RDONLY))
            fcntl.flock(held[-1], fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            pass
        if len(held) > 900: break
time.sleep(1)
"""
EVICTS = """
import glob, os
for path in glob.glob("/usr/lib/python3*/*.py") + glob.glob("/usr/bin/*"):
    try: fd = os.open(path, os.O_RDONLY)
    except OSError: continue
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(fd)
"""
BOMBS = ("x = []\nwhile True: x.append(bytearray(1 << 20))",
         "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass",
         "import os\nwhile True: os.write(1, b'x' * 65536)",
         "f = open('big', 'wb')\nwhile True: f.write(b'x' * 65536)")


class Mallory:
    """Each method is one round of one misuse. Its answers do not matter, unless they are a 5xx of our own making."""

    def __init__(self, service, key):
        self.s, self.key, self.idle, self.targets = service, key, [], []

    def post(self, path, body):
        reply = self.s.post(path, body, key=self.key)
        assert reply.status != 500, reply
        return reply

    def run(self, code, **limits):
        self.post("/v1/runs", {"language": "python", "code": code, "limits": {"wall_ms": 2000, **limits}})

    def execute(self, code):
        self.post("/execute", {"generated_code": code, "timeout": 5})

    def floods_the_history(self):
        self.run("print('x' * 4000000)", output="8m")

    def fills_the_disk(self):
        self.post("/api/artifacts/create", {"content": "x" * 300000, "title": "t", "language": "python"})
        self.execute("for i in range(60): open(f'f{i}', 'wb').write(bytes(1 << 20))")

    def leaves_code(self):
        self.execute("open('json.py', 'w').write('print(\"mallory\")')")

    def sends_much(self):
        self.post("/v1/runs", ('{"language": "python", "code": "%s", "nonsense": 1}' % ("\\u0041" * 2500000)).encode())

    def says_nothing(self):
        self.idle += [self.s.connect() for _ in range(8)]
        for c in self.idle[::2]:
            try:
                c.sendall(b"GET /v1/health HTT")
            except OSError:
                pass
        while len(self.idle) > 96:
            self.idle.pop(0).close()
        time.sleep(0.05)

    def locks_files(self):
        self.run(LOCKS, open_files=1024)

    def evicts_files(self):
        self.run(EVICTS)

    def explodes(self):
        for bomb in BOMBS:
            self.run(bomb, memory="64m", pids=32, output="1m", disk="8m")

    def trespasses(self):
        for run, artifact in self.targets[-3:]:
            answers = [self.s.request(method, path, body, key=self.key).status for method, path, body in (
                ("GET", f"/v1/runs/{run}", None), ("DELETE", f"/v1/runs/{run}", None),
                ("GET", f"/v1/runs/{run}/stdout", None), ("GET", f"/api/artifacts/{artifact}", None),
                ("POST", f"/api/artifacts/{artifact}/fork", {}), ("DELETE", f"/api/artifacts/{artifact}", None),
                ("PUT", f"/api/artifacts/{artifact}", {"content": "print('mallory')"}))]
            assert set(answers) <= {403, 404}, answers
        time.sleep(0.05)


MISUSES = [name for name in vars(Mallory) if not name.startswith("_") and name not in ("post", "run", "execute")]


refused = []


def ask(s, key, method, path, body=None):
    """A request of alice. A connection on which nothing was sent gives way to newer ones, and mallory opens 64 of them
    in about 0.4 s. So a client that this machine held up before it could send may be cut off, and asks again. A
    client that sent its request at once may not."""
    for _ in range(20):
        c = s.connection()
        try:
            c.connect()
            opened = time.monotonic()
            headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
            try:
                c.request(method, path, None if body is None else json.dumps(body), headers)
            finally:
                held_up = time.monotonic() - opened
            r = c.getresponse()
            reply = Reply(r.status, r.headers, r.read())
            if reply.status != 503 or b"connections are open" not in reply.body:
                return reply
            refused.append(path)  # every place was taken by a request that had just come
        except (ConnectionResetError, BrokenPipeError, http.client.RemoteDisconnected):
            if held_up < 0.1:
                raise
        finally:
            c.close()
    raise AssertionError("this machine is too busy to send a request")


def one_round(s, key, number):
    """The work of alice: the ids of her run and her artifact."""
    result = ask(s, key, "POST", "/v1/runs", {"code": f"import json\nprint(json.dumps({number}))", "language": "python",
                                             "limits": LIMITS}).json
    assert (result["verdict"], result["stdout"], result["limits_hit"]) == ("ok", f"{number}\n", []), result
    answer = ask(s, key, "POST", "/execute", {"generated_code": f"import json\nprint(json.dumps({number}))\n"
                                              f"open('n', 'w').write('{number}')", "timeout": 30}).json
    assert answer == {"process_status": "completed", "stdout": f"{number}\n", "stderr": ""}, answer
    made = ask(s, key, "POST", "/api/artifacts/create", {"content": f"print({number})", "title": "t",
                                                         "language": "python"})
    assert made.status in (200, 201), made
    assert s.get("/v1/health", unix=True).status == 200
    return result["id"], made.json["id"]


def test_a_tenant_works_beside_one_that_misuses_everything():
    rounds, failures, done, began = {name: 0 for name in MISUSES}, [], threading.Event(), time.monotonic()

    def misuse(mallory, name):
        while not done.is_set() and not failures:
            try:
                getattr(mallory, name)()
                rounds[name] += 1
            except (OSError, http.client.HTTPException):  # a connection of hers had to give way
                pass
            except AssertionError as e:
                failures.append(e)

    with Service(*[a for k, v in SETTINGS.items() for a in ("--set", f"{k}={v}")]) as s:
        alice, key = s.add_key("alice"), s.add_key("mallory", "run", "--max-runs", "6")
        assert eventually(lambda: s.get("/v1/languages", key=key).status == s.get("/v1/languages", key=alice).status
                          == 200)
        mallory = Mallory(s, key)
        threads = [threading.Thread(target=misuse, args=(mallory, name)) for name in MISUSES]
        for t in threads:
            t.start()
        try:
            while (time.monotonic() < began + SECONDS or min(rounds.values()) == 0) and not failures:
                mallory.targets.append(one_round(s, alice, len(mallory.targets)))
        finally:
            done.set()
            for t in threads:
                t.join()
            for c in mallory.idle:
                c.close()
        print(len(mallory.targets), "rounds of alice;", rounds)
        assert not failures, failures
        assert len(refused) <= 1 + len(mallory.targets) / 100, refused
        missing = 0
        for number, (run, artifact) in enumerate(mallory.targets):
            kept = s.get(f"/v1/runs/{run}", key=alice)
            if kept.status == 404 and number == missing and number < len(mallory.targets) - KEPT:
                missing += 1  # her own runs displaced her oldest ones, and no other
                continue
            assert kept.status == 200 and kept.json["stdout"] == f"{number}\n", (number, missing, kept)
            assert s.get(f"/api/artifacts/{artifact}", key=alice).json["content"] == f"print({number})"
