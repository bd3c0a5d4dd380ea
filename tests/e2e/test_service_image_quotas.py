"""Quotas while images are saved or open, and images of other keys, languages and builds."""
import hashlib
import json
import sqlite3
import threading

import pytest
from service import Service

pytestmark = pytest.mark.release_only  # IPython starts cold there: every session would take seconds
OPTIONS = ("--set", "runs.max=8", "--set", "pools.preload=python-session", "--set", "sessions.max=16")
OCTETS = {"Content-Type": "application/octet-stream"}


def create(service, language="python", **how):
    reply = service.post("/v1/sessions", {"language": language, "limits": {"memory": "1g"}}, **how)
    assert reply.status == 201, reply
    return reply.json["id"]


def value(service, session, code, **how):
    reply = service.post(f"/v1/sessions/{session}/exec", {"code": code}, **how)
    assert reply.status == 200 and reply.json["status"] == "ok", reply
    return reply.json["result"]["text/plain"] if reply.json["result"] else None


def sleep(service, session):
    return service.post(f"/v1/sessions/{session}/sleep")


@pytest.fixture(scope="module")
def one_room():
    with Service(*OPTIONS, "--set", "images.max_bytes_per_key=200m") as s:
        yield s


@pytest.fixture
def small(one_room):
    """A service with room for one image of a large session, and not for two. No session is left behind."""
    yield one_room
    for session in one_room.get("/v1/sessions").json["sessions"]:
        assert one_room.delete(f"/v1/sessions/{session['id']}").status == 200


def large(service):
    session = create(service)
    value(service, session, "import os; x = bytearray(os.urandom(1 << 20) * 80); None")
    return session


def end(service, *sessions):
    for session in sessions:
        assert service.delete(f"/v1/sessions/{session}").status == 200


def test_images_count_while_they_are_saved(small):
    for _ in range(3):
        sessions = [large(small) for _ in range(2)]
        replies = {}
        threads = [threading.Thread(target=lambda i=i: replies.update({i: sleep(small, i)})) for i in sessions]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        assert sorted(r.status for r in replies.values()) == [200, 507], replies
        (refused,) = [r for r in replies.values() if r.status == 507]
        assert "images.max_bytes_per_key" in refused.error["message"]
        end(small, *sessions)


def test_a_removed_image_counts_while_a_program_has_it_open(small):
    first, second = large(small), large(small)
    assert sleep(small, first).status == 200
    value(small, first, "len(x)")  # awake: its image has no name, and its program still maps it
    assert sleep(small, second).status == 507
    assert sleep(small, first).status == 200  # the image that it became goes with its jar
    value(small, first, "len(x)")
    end(small, first)
    assert sleep(small, second).status == 200
    assert value(small, second, "len(x)") == str(80 << 20)
    end(small, second)


def export(service, session, **how):
    reply = service.get(f"/v1/sessions/{session}/image", **how)
    assert reply.status == 200, reply
    return reply.body


def split(data):
    n = int.from_bytes(data[20:24], "little")
    return json.loads(data[24:24 + n]), data[24 + n:]


def joined(head, image):
    """A file with the digest that belongs to it: of pieces of 1 MiB, each behind its length."""
    h = hashlib.blake2b(digest_size=32)
    for at in range(0, len(image), 1 << 20):
        piece = image[at:at + (1 << 20)]
        h.update(len(piece).to_bytes(8, "big") + piece)
    text = json.dumps({**head, "bytes": len(image), "digest": h.hexdigest()}).encode()
    return b"BELLJAR SESSION\n" + (1).to_bytes(4, "little") + len(text).to_bytes(4, "little") + text + image


def send(service, data, **how):
    return service.post("/v1/sessions?from=image", data, headers=OCTETS, **how)


def test_images_of_another_key_cannot_be_reached():
    with Service(*OPTIONS) as s:
        one, two = s.add_key("one", "run"), s.add_key("two", "run")
        mine, other = create(s, key=one), create(s, key=two)
        value(s, mine, "secret = 42", key=one)
        mark = s.post(f"/v1/sessions/{mine}/checkpoints", {"name": "c"}, key=one).json["id"]
        assert s.post("/v1/templates", {"name": "t", "language": "python", "setup": "secret = 42"},
                      key=one).status == 201
        # By every way that leads to an image: the session, a checkpoint in a session of one's own, the template.
        assert s.get(f"/v1/sessions/{mine}/image", key=two).status == 404
        for to in (mark, "c"):
            assert s.post(f"/v1/sessions/{other}/rollback", {"to": to}, key=two).status == 404
            assert s.post(f"/v1/sessions/{other}/fork", {"from": to}, key=two).status == 404
        assert s.post("/v1/sessions", {"language": "python", "template": "t"}, key=two).status == 404
        assert s.post("/v1/runs", {"code": "print(secret)", "template": "t"}, key=two).status == 404
        assert s.delete("/v1/templates/t", key=two).status == 404
        # A file is the bytes of its bearer: the new session is out of reach for the key that exported it.
        reply = send(s, export(s, mine, key=one), key=two)
        assert reply.status == 201 and value(s, reply.json["id"], "secret", key=two) == "42", reply
        assert s.get(f"/v1/sessions/{reply.json['id']}", key=one).status == 404
        assert s.get(f"/v1/sessions/{mine}", key=one).json["state"] == "idle"


@pytest.mark.parametrize("kind", ["session.exported", "session.imported"])
def test_no_byte_leaves_and_no_session_begins_without_a_record(small, kind):
    """A second record of this kind breaks an index, so it cannot be written."""
    session = create(small, "bash")
    data = export(small, session)
    end(small, send(small, data).json["id"])
    with sqlite3.connect(small.database) as db:
        (last,) = db.execute("SELECT max(seq) FROM audit WHERE kind = ?", (kind,)).fetchone()
        db.execute(f"CREATE UNIQUE INDEX refuse ON audit (kind) WHERE kind = '{kind}' AND seq >= {last}")
    try:
        reply = small.get(f"/v1/sessions/{session}/image") if kind == "session.exported" else send(small, data)
        assert reply.status in (409, 500, 503) and "error" in reply.json, reply
        sessions = small.get("/v1/sessions").json["sessions"]
        assert [s["id"] for s in sessions] == [session]
    finally:
        with sqlite3.connect(small.database) as db:
            db.execute("DROP INDEX refuse")
    made = send(small, export(small, session))
    assert made.status == 201, made
    end(small, session, made.json["id"])


def test_images_of_other_languages_and_builds_are_refused(small):
    session = create(small)
    value(small, session, "x = 5")
    head, image = split(export(small, session))
    assert send(small, joined(head, image)).status == 201  # joined() makes a true digest
    for language in ("javascript", "typescript", "bash", "sqlite", "postgres"):
        reply = send(small, joined({**head, "session": {**head["session"], "language": language}}, image))
        refusals = ["image of"] + ["PostgreSQL is not prepared on this machine"] * (language == "postgres")
        assert reply.status == 409 and any(r in reply.error["message"] for r in refusals), (language, reply)
    libc = b"/libc.so.6\0"
    assert libc in image
    reply = send(small, joined(head, image.replace(libc, b"/libm.so.6\0")))  # a file with another build id
    assert reply.status == 409 and "/libm.so.6" in reply.error["message"], reply
    assert value(small, session, "x") == "5"
