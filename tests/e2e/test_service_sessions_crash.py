"""kill -9 at random moments of writing or reading an image: of the keeper, of the jar, of the whole service. The
session or its earlier image is intact, and nothing half is ever used. The group `soak` kills 200 times, the group e2e
24 times."""
import http.client
import os
import random
import signal
import threading
import time

import pytest
from harness import SOAK, eventually
from hostview import descendants
from service import Service
from sessions import (PATIENCE, checkpoint, create, end, images, kill_everything, kill_keeper, look, output, place,
                      roll_back, sleep)

pytestmark = pytest.mark.release_only  # the same code is killed with sanitizers by the tests of sessions that survive
ROUNDS = 200 if SOAK else 24
SEED = int(os.environ.get("BELLJAR_TEST_SEED", "1"))
BYTES = 20_000_000
LOOK = "echo $n ${#big}"
OPTIONS = ("--set", "runs.max=8", "--set", "pools.preload=used")


def kill_jar(service, _session):
    """Every process of the only session that is awake, and so the writer of its image."""
    for p in descendants(service.half("warden").pid):
        if p.comm == "bash":
            try:
                os.kill(p.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass


def kill_service(service, _session):
    kill_everything(service)
    service.start()


KILLS = {"keeper": lambda service, _session: kill_keeper(service), "jar": kill_jar, "service": kill_service}


class Story:
    """A session with a checkpoint, and values that it may have: the last one, or that of the checkpoint."""

    def __init__(self, service, chance):
        self.service, self.chance, self.n, self.session = service, chance, 0, None
        self.outcomes, self.lasts_s = {}, 0.2

    def begin(self):
        self.session = create(self.service, "bash", limits={"memory": "300m"})
        output(self.service, self.session, f"big=$(head -c {BYTES} /dev/zero | tr '\\0' z)")

    def advance(self):
        """A new value behind a new checkpoint, which the value before it is in."""
        if self.session is None:
            self.begin()
        self.n += 1
        output(self.service, self.session, f"n={self.n}")
        for c in self.service.get(place(self.session) + "/checkpoints").json["checkpoints"]:
            self.service.delete(f"{place(self.session)}/checkpoints/{c['id']}")
        self.kept = checkpoint(self.service, self.session, name="kept")["id"]
        self.n += 1
        output(self.service, self.session, f"n={self.n}")

    def ask(self, word):
        began = time.monotonic()
        try:
            self.service.post(f"{place(self.session)}/{word}")
            self.lasts_s = 0.5 * self.lasts_s + 0.5 * min(2, time.monotonic() - began)
        except (OSError, http.client.HTTPException, AssertionError):
            pass  # the keeper died within the answer

    def kill(self, target, word):
        thread = threading.Thread(target=self.ask, args=(word,))
        thread.start()
        time.sleep(self.chance.random() * 1.3 * self.lasts_s)
        KILLS[target](self.service, self.session)
        thread.join(PATIENCE)

    def seen(self):
        """The value of the session; "ended" if it has ended. A cell that finds a jar that is dead is lost, and the next
        one finds the session at its checkpoint."""
        def try_once():
            reply = self.service.post(f"{place(self.session)}/exec", {"code": LOOK})
            if reply.status == 410:
                return "ended"
            return reply.json["stdout"] if reply.status == 200 and reply.json["status"] == "ok" else None
        found = eventually(try_once, PATIENCE)
        assert found, self.service.get(place(self.session))
        return found

    def check(self, target, word):
        """The value is the last one, or that of the checkpoint if the jar died. Only the death of the service may end a
        session that was awake, or that of a jar whose state is that of the newest checkpoint."""
        text = self.seen()
        if text == "ended":
            assert target == "service" or (target, word) == ("jar", "checkpoints"), (target, word)
            self.session, found = None, "ended"
        else:
            allowed = {f"{self.n} {BYTES}\n"} | ({f"{self.n - 1} {BYTES}\n"} if target == "jar" else set())
            assert text in allowed, (target, word, text, self.n)
            roll_back(self.service, self.session, "kept")
            assert self.seen() == f"{self.n - 1} {BYTES}\n", (target, word)
            found = "is whole"
        self.outcomes[f"{target}: {found}"] = self.outcomes.get(f"{target}: {found}", 0) + 1
        assert eventually(lambda: not [f for f in images(self.service) if "." in f], PATIENCE), images(self.service)


def test_a_kill_at_any_moment_of_an_image_loses_nothing():
    chance = random.Random(SEED)
    with Service(*OPTIONS) as s:
        asleep = create(s, "sqlite")  # its image is there before everything
        s.post(f"{place(asleep)}/exec", {"code": "CREATE TABLE t(x); INSERT INTO t VALUES (7)"})
        sleep(s, asleep)
        story = Story(s, chance)
        for n in range(ROUNDS):
            target, word = list(KILLS)[n % 3], chance.choice(("sleep", "sleep", "checkpoints", "wake"))
            story.advance()
            if word == "wake":
                sleep(s, story.session)
            story.kill(target, word)
            story.check(target, word)
            assert look(s, asleep)["state"] == "sleeping"
        print(f"seed {SEED}, {ROUNDS} kills: {story.outcomes}")
        cell = s.post(f"{place(asleep)}/exec", {"code": "SELECT x FROM t"}).json
        assert cell["result"]["application/json"]["rows"] == [[7]], cell
        end(s, asleep)
        if story.session:
            end(s, story.session)
        assert eventually(lambda: images(s) == [] and os.listdir(s.data / "sessions") == [], PATIENCE), images(s)
