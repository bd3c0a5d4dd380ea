"""Many sessions, random cells, interrupts, restarts and deaths of the keeper. A model knows the variables of each
session, and they must match at every look. Afterwards nothing is left.

The group `soak` has 50 sessions for $BELLJAR_TEST_SOAK_SECONDS (600); the group e2e has a few, for some seconds."""

import contextlib
import http.client
import json
import os
import random
import signal
import threading
import time
from collections import Counter

from harness import ASAN, SOAK, eventually
from hostview import cgroups, descendants
from service import Service, in_threads

SECONDS = float(os.environ.get("BELLJAR_TEST_SOAK_SECONDS", "600")) if SOAK else 6 if ASAN else 12
SESSIONS, WORKERS = (50, 10) if SOAK else (4, 3) if ASAN else (8, 4)
BETWEEN_KILLS = (4, 12) if SOAK else (2, 4)
PATIENCE = 90
NAMES = "me a b c d".split()
LOST = (OSError, http.client.HTTPException)  # the keeper died with the connection

# How each language says it. `dump` shows the variables of NAMES, `spin` ends only by an interrupt.
LANGUAGES = {
    "python": {
        "begin": "import sys, time\nme = '{me}'", "set": "{k} = {v}", "add": "{k} += {v}",
        "dump": "print(*(f\"{{k}}={{globals().get(k, '')}}\" for k in {names!r}.split()), sep='\\n')",
        "count": "for i in range({n}):\n    print('{me}', i)\n    if i % 50 == 0: time.sleep(0.02)",
        "spin": "while True: time.sleep(0.01)", "fail": "raise ValueError('{me}')",
        "ask": "{k} = int(input('number? '))"},
    "javascript": {
        "begin": "globalThis.me = '{me}'", "set": "globalThis.{k} = {v}", "add": "{k} += {v}",
        "dump": "console.log({names!r}.split(' ').map(k => k + '=' + (globalThis[k] ?? '')).join('\\n'))",
        "count": "for (let i = 0; i < {n}; i++) {{ console.log('{me}', i); "
                 "if (i % 50 == 0) await new Promise(r => setTimeout(r, 20)) }}",
        "spin": "for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20)",
        "fail": "throw new Error('{me}')"},
    "bash": {
        "begin": "me={me}", "set": "{k}={v}", "add": "{k}=$(({k} + {v}))",
        "dump": "for k in {names}; do echo \"$k=${{!k}}\"; done",
        "count": "for ((i = 0; i < {n}; i++)); do echo {me} $i; ((i % 50)) || sleep 0.02; done",
        "spin": "while :; do sleep 0.02; done", "fail": "echo {me} >&2; false"},
    "sqlite": {
        "begin": "create table t(k text primary key, v);\ninsert into t values ('me', '{me}')",
        "set": "insert or replace into t values ('{k}', {v})", "add": "update t set v = v + {v} where k = '{k}'",
        "dump": "select k, v from t",
        "count": "with recursive c(i) as (select 0 union all select i + 1 from c where i + 1 < {n}) "
                 "select '{me} ' || i from c",
        "spin": "with recursive c(i) as (select 0 union all select i + 1 from c) select count(*) from c",
        "fail": "select {me}_is_missing"},
}


class Session:
    """One session and the model of its variables. One thread at a time uses it."""

    def __init__(self, service, number, seed):
        self.service, self.random, self.made = service, random.Random(seed), 0
        self.language = list(LANGUAGES)[number % len(LANGUAGES)]
        self.number, self.story = number, []
        self.create()

    def note(self, text):
        self.story = [*self.story[-15:], f"{time.strftime('%T')} {text}"]

    def fail(self, *what):
        raise AssertionError(f"session {self.path} of {self.language}: {what}\n" + "\n".join(self.story))

    def code(self, form, **words):
        return LANGUAGES[self.language][form].format(me=self.me, names=" ".join(NAMES), **words)

    # ---- requests, over deaths of the keeper ----

    def ask(self, method, path="", body=None):
        """None: the connection was lost."""
        try:
            return self.service.request(method, self.path + path, body)
        except LOST:
            self.note(f"{method} {path} lost its connection")
            return None

    def insist(self, method, path="", body=None):
        return eventually(lambda: self.ask(method, path, body), PATIENCE)

    def create(self):
        """Its name finds a session whose creation was answered by nobody."""
        self.made += 1
        self.me, self.path = f"s{self.number}x{self.made}", "/v1/sessions"

        def attempt():
            listed = self.ask("GET", "?name=" + self.me)
            if listed is None:
                return None
            if listed.json["sessions"]:
                return listed.json["sessions"][0] if listed.json["sessions"][0]["state"] == "idle" else None
            made = self.ask("POST", "", {"language": self.language, "name": self.me})
            if made is not None and made.status != 201:
                self.fail(made)
            return made and made.json
        made = eventually(attempt, PATIENCE)
        self.path += "/" + made["id"]
        self.cells, self.restarts = made["cells"], made["restarts"]
        self.begin()

    def begin(self):
        self.model = {"me": self.me}
        while not (cell := self.run(self.code("begin"))) or cell["status"] != "ok":
            if cell:
                self.fail(cell)

    def state(self):
        reply = self.insist("GET")
        if reply.status != 200:
            self.fail(reply)
        return reply.json

    def settled(self, number):
        """The cell with this number once it is over; None: it never ran."""
        def look():
            state = self.state()
            return state if state["state"] == "idle" and not state["waiting"] else None
        state = eventually(look, PATIENCE)
        if not state:
            self.fail("does not become idle", self.state())
        if state["cells"] not in (number - 1, number):
            self.fail("cell", number, state)
        self.cells = state["cells"]
        if self.cells == number - 1:
            return None
        cell = eventually(lambda: self.over(number), PATIENCE)  # its record follows the state
        if not cell:
            self.fail("no end of cell", number, self.insist("GET", f"/cells/{number}"))
        return cell if cell["state"] == "finished" else None

    def run(self, code):
        """The answer of a cell. None: it did not run, because the keeper died first."""
        number = self.cells + 1
        self.note(f"cell {number}: {code}")
        reply = self.ask("POST", "/exec", {"code": code, "timeout": PATIENCE})
        if reply is None:
            return self.settled(number)
        if reply.status != 200 or reply.json["cell"] != number:
            self.fail("cell", number, reply)
        self.cells = number
        return reply.json

    def start(self, code):
        """The number of a cell that nobody waits for; None as in run()."""
        number = self.cells + 1
        self.note(f"starts cell {number}: {code}")
        reply = self.ask("POST", "/exec", {"code": code, "timeout": PATIENCE, "wait": False})
        if reply is not None and (reply.status != 202 or reply.json["cell"] != number):
            self.fail("cell", number, reply)
        if reply is None and eventually(self.state, PATIENCE)["cells"] < number:
            return None
        self.cells = number
        return number

    def over(self, number):
        reply = self.insist("GET", f"/cells/{number}")
        if reply.status != 200:
            self.fail(reply)
        return reply.json if reply.json["state"] in ("finished", "interrupted") else None

    # ---- the steps of a client ----

    def look(self):
        cell = self.run(self.code("dump"))
        if cell is None:
            return
        rows = dict(line.split("=") for line in cell["stdout"].splitlines())
        if self.language == "sqlite":
            rows = {k: str(v) for k, v in cell["result"]["application/json"]["rows"]}
        shown = {k: v for k, v in rows.items() if v != ""}
        if cell["status"] != "ok" or shown != {k: str(v) for k, v in self.model.items()}:
            self.fail("variables", cell, "model", self.model)

    def change(self):
        k, v = self.random.choice(NAMES[1:]), self.random.randrange(1000)
        adds = k in self.model and self.random.random() < 0.5
        cell = self.run(self.code("add" if adds else "set", k=k, v=v))
        if cell is None:
            return
        if cell["status"] != "ok":
            self.fail(cell)
        self.model[k] = v + (self.model[k] if adds else 0)

    def error(self):
        cell = self.run(self.code("fail"))
        if cell is not None and (cell["status"] != "error" or self.me not in json.dumps(cell)):
            self.fail(cell)

    def count(self):
        """Follows the events of a cell, and goes on after each lost connection: every line once."""
        n = self.random.randrange(1, 400)
        number, events = self.start(self.code("count", n=n)), []
        if number is None:
            return

        def follow():
            after = max((e["seq"] for e in events if "seq" in e), default=0)
            with contextlib.suppress(*LOST), \
                    self.service.events(f"{self.path}/cells/{number}/events?from={after}", within=PATIENCE) as stream:
                events.extend(stream)
            return events and events[-1]["event"] == "done"
        if not eventually(follow, PATIENCE):
            self.fail("no end of events", events[-3:])
        if events[-1]["result"]["state"] == "interrupted":
            return  # it never ran
        lines = "".join(e["data"] for e in events if e["event"] == "stdout").splitlines()
        for e in events:
            if e["event"] == "result" and self.language == "sqlite":
                lines = [row[0] for row in e["data"]["application/json"]["rows"]]
        if lines != [f"{self.me} {i}" for i in range(n)]:
            self.fail("lines", n, lines[:5], lines[-5:], len(lines), events[-1])

    def interrupt(self):
        number = self.start(self.code("spin"))
        if number is None:
            return

        def attempt():
            cell = self.over(number)
            if not cell and self.state()["cell"] == number:
                time.sleep(self.random.random() * 0.3)
                self.ask("POST", "/interrupt")
            return cell
        cell = eventually(attempt, PATIENCE, 0.2)
        if not cell or (cell["state"] == "finished" and cell["status"] != "interrupted"):
            self.fail("interrupted", cell)

    def answer(self):
        if "ask" not in LANGUAGES[self.language]:
            return
        k, v = self.random.choice(NAMES[1:]), self.random.randrange(1000)
        number = self.start(self.code("ask", k=k))
        if number is None:
            return

        def attempt():
            cell = self.over(number)
            if not cell and self.state()["awaits_input"]:
                self.ask("POST", "/stdin", {"text": str(v)})
            return cell
        cell = eventually(attempt, PATIENCE, 0.05)
        if cell and cell["state"] == "finished" and cell["status"] == "ok":
            self.model[k] = v
        elif not cell or cell["state"] == "finished":
            self.fail("input", cell)

    def file(self):
        text = f"{self.me} {self.random.random()}".encode()
        written = self.ask("PUT", "/files/note", text)
        read = written and self.ask("GET", "/files/note")
        if written and (written.status >= 300 or (read and read.body != text)):
            self.fail("file", text, written, read)

    def restart(self):
        """A session that starts has no program that could outlive the keeper."""
        self.note("restart")
        reply = self.ask("POST", "/restart")
        if reply is not None and reply.status != 201:
            self.fail(reply)
        now = reply or self.insist("GET")
        if now.status == 410:
            self.create()
        elif now.json["restarts"] != self.restarts:
            self.restarts = now.json["restarts"]
            self.settled(self.cells + 1)
            self.begin()

    def renew(self):
        reply = self.insist("DELETE")
        if reply.status not in (200, 410):
            self.fail(reply)
        self.create()

    def step(self):
        weights = {self.change: 30, self.look: 25, self.count: 12, self.interrupt: 10, self.error: 6, self.answer: 8,
                   self.file: 5, self.restart: 3, self.renew: 1}
        self.random.choices(list(weights), list(weights.values()))[0]()


def snapshot(service):
    """A count of everything that the service holds, but the history, which grows."""
    halves = {name: service.half(name).pid for name in ("keeper", "warden")}
    own = [c for c in cgroups() if {str(service.pid), *map(str, halves.values())} & set(os.path.basename(c).split("-"))]
    state = Counter(os.path.relpath(os.path.join(top, f), service.state) for top, _, files in os.walk(service.state)
                    for f in files)
    with open(f"/proc/{halves['warden']}/mountinfo") as mounts:
        return Counter({
            "cgroups": sum(len(names) for c in own for _, names, _ in os.walk(c)), "mounts": len(mounts.readlines()),
            **{f"descriptors of the {name}": len(os.listdir(f"/proc/{pid}/fd"))
               for name, pid in {"supervisor": service.pid, **halves}.items()},
            **Counter(f"processes {p.comm}" for p in descendants(service.pid)),
            **{f: n for f, n in state.items() if not f.startswith(("data/output/", "data/belljar.db"))}})


def settled(service):
    """The snapshot of a service that does nothing any more."""
    def look():
        first = snapshot(service)
        time.sleep(1)
        return first if snapshot(service) == first else None
    found = eventually(look, PATIENCE)
    assert found
    return found


def kill_keeper(service):
    keeper = service.half("keeper").pid
    os.kill(keeper, signal.SIGKILL)
    assert eventually(lambda: service.half("keeper").pid != keeper and service.reachable(), PATIENCE)


def test_sessions_match_their_model_while_the_keeper_is_killed():
    seed = int(os.environ.get("BELLJAR_TEST_SEED", "1"))
    print("seed", seed, "seconds", SECONDS)
    s = Service()
    config = s.scratch / "config"
    s.options = ["--config", str(config)]
    config.write_text("pools.max = 0\n")
    with s:
        for session in in_threads([lambda n=n: Session(s, n, seed) for n in range(len(LANGUAGES))]):
            assert s.delete(session.path).status == 200
        kill_keeper(s)
        warden = s.half("warden").pid
        before = settled(s)
        config.write_text("pools.preload = used\n")
        s.signal(signal.SIGHUP)
        steps, kills = soak(s, seed)
        print(f"{sum(steps.values())} steps, {kills} deaths of the keeper: {dict(steps)}")
        assert kills >= 2 and s.half("warden").pid == warden
        config.write_text("pools.max = 0\n")
        s.signal(signal.SIGHUP)
        is_clean = eventually(lambda: not snapshot(s) - before, PATIENCE)
        assert is_clean, (snapshot(s) - before, [p for p in descendants(s.pid) if not p.comm.startswith("belljar")])


def soak(service, seed):
    """Returns the number of steps by language, and of deaths."""
    sessions = [None] * SESSIONS
    steps, kills, end, failed = Counter(), 0, threading.Event(), []

    def work(worker):
        own = range(worker, SESSIONS, WORKERS)
        choose = random.Random(seed * 1000 + worker)
        try:
            for n in own:
                sessions[n] = Session(service, n, seed * 1000 + n)
            while not end.is_set():
                session = sessions[choose.choice(own)]
                session.step()
                steps[session.language] += 1
            for n in own:
                sessions[n].look()
        except BaseException as e:
            failed.append(e)
            end.set()
            raise

    threads = [threading.Thread(target=work, args=(w,), daemon=True) for w in range(WORKERS)]
    for thread in threads:
        thread.start()
    until, chance = time.monotonic() + SECONDS, random.Random(seed)
    while not end.wait(chance.uniform(*BETWEEN_KILLS)) and (time.monotonic() < until or kills < 2):
        kill_keeper(service)
        kills += 1
    end.set()
    for thread in threads:
        thread.join(PATIENCE * 4)
    if failed:
        raise failed[0]
    assert all(sessions)
    listed = {entry["id"] for entry in service.get("/v1/sessions").json["sessions"]}
    assert listed == {session.path.split("/")[-1] for session in sessions}
    for session in sessions:
        assert service.delete(session.path).status == 200
    return steps, kills
