"""Images that are damaged, exchanged, forged or too large. Each is refused, or harms only the jar that becomes it.
Sessions of bash and of databases start quickly, so these tests run with the
sanitizers, too: they watch the keeper, for which an image is opaque bytes."""
import contextlib
import hashlib
import json
import os
import random
from pathlib import Path

import pytest
from harness import ASAN, eventually
from service import Service
from sessions import (PATIENCE, checkpoint, copies_of, create, end, end_sessions, execute, images, look, place,
                      roll_back, sleep, wake)

SETUP = {"bash": "x=5; big=$(head -c 200000 /dev/zero | tr '\\0' z); echo kept >file; trap 'echo 7' USR1",
         "sqlite": "CREATE TABLE t(x); INSERT INTO t VALUES (5); ATTACH 'f.db' AS f; CREATE TABLE f.u(y)",
         "postgres": "CREATE TABLE t(x int); INSERT INTO t VALUES (5); PREPARE p AS SELECT x FROM t"}
LOOK = {"bash": "echo $x ${#big} $(cat file)", "sqlite": "SELECT x, (SELECT count(*) FROM f.u) FROM t",
        "postgres": "EXECUTE p"}
ALL = [language for language in SETUP if not ASAN or language != "postgres"]
languages = pytest.mark.parametrize("language", ALL)


@pytest.fixture(scope="module")
def service():
    with Service("--set", "runs.max=8", "--set", "pools.max=0", "--set", "sessions.max=12") as s:
        keeper = s.half("keeper").pid
        yield s
        assert s.half("keeper").pid == keeper, "the keeper died, and another one took over"


@pytest.fixture(autouse=True)
def nothing_is_left(request):
    yield
    if "service" in request.fixturenames:
        s = request.getfixturevalue("service")
        end_sessions(s)
        assert eventually(lambda: images(s) == [], PATIENCE), images(s)


def begin(service, language):
    session = create(service, language)
    assert execute(service, session, SETUP[language])["status"] == "ok"
    return session, seen(service, session, language)


def seen(service, session, language):
    cell = execute(service, session, LOOK[language])
    assert cell["status"] == "ok", cell
    return cell["stdout"], cell["result"] and cell["result"]["text/csv"]


@contextlib.contextmanager
def written(path, data):
    """The file has other bytes for a while."""
    whole = path.read_bytes()
    for content in (data, whole):
        path.chmod(0o600)
        path.write_bytes(content)
        path.chmod(0o400)
        if content is data:
            yield


def only_image(service):
    return service.data / "images" / images(service)[0]


@languages
def test_a_byte_that_is_altered_anywhere_in_an_image_is_noticed(service, language):
    """STORED-3: the first page, files, tables, pages of memory, the end."""
    session, before = begin(service, language)
    sleep(service, session)
    path = only_image(service)
    whole, chance = path.read_bytes(), random.Random(language)
    places = {0, 7, 8, 17, 33, 4095, 4096, 4100, 8192, len(whole) - 1, len(whole) - 4097, len(whole) // 2}
    places |= {chance.randrange(len(whole)) for _ in range(4 if ASAN else 12)}
    for at in sorted(places):
        with written(path, whole[:at] + bytes([whole[at] ^ 1 << chance.randrange(8)]) + whole[at + 1:]):
            reply = service.post(f"{place(session)}/wake")
            assert reply.status == 409 and "was altered" in reply.error["message"], (at, reply)
    for size in (0, 1, 4096, len(whole) - 1, len(whole) + 1):
        with written(path, (whole + b"x")[:size]):
            reply = service.post(f"{place(session)}/wake")
            assert reply.status == 409 and "bytes in place of" in reply.error["message"], (size, reply)
    assert look(service, session)["state"] == "sleeping"
    wake(service, session)
    assert seen(service, session, language) == before


@languages
def test_an_image_of_another_session_is_not_taken_for_ones_own(service, language):
    """Files that are exchanged on the disk: each session notices it."""
    sessions, files = [], []
    for n in range(2):
        session, before = begin(service, language)
        sleep(service, session)
        files += [service.data / "images" / f for f in images(service) if service.data / "images" / f not in files]
        sessions.append((session, before))
    contents = [f.read_bytes() for f in files]
    with written(files[0], contents[1]), written(files[1], contents[0]):
        for session, _ in sessions:
            reply = service.post(f"{place(session)}/wake")
            assert reply.status == 409 and ("was altered" in reply.error["message"]
                                            or "bytes in place of" in reply.error["message"]), reply
    for session, before in sessions:
        assert seen(service, session, language) == before


@languages
def test_a_damaged_checkpoint_of_any_language_is_refused(service, language):
    """CHECKPOINT-2: by a rollback, and by a copy that would begin from it."""
    session, before = begin(service, language)
    checkpoint(service, session, name="a")
    path = only_image(service)
    whole = path.read_bytes()
    for at in (8, 4096, len(whole) // 2, len(whole) - 1):
        with written(path, whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1:]):
            for word, body in (("rollback", {"to": "a"}), ("fork", {"from": "a"})):
                reply = service.post(f"{place(session)}/{word}", body)
                assert reply.status == 409 and "was altered" in reply.error["message"], (at, word, reply)
    assert seen(service, session, language) == before
    roll_back(service, session, "a")
    assert seen(service, session, language) == before


# ---- files that were forged: their digest is right ----

def digest_of(image):
    """BLAKE2b of the pieces, each behind its length."""
    h, piece = hashlib.blake2b(digest_size=32), 1 << 20
    for at in range(0, len(image), piece):
        part = image[at:at + piece]
        h.update(len(part).to_bytes(8, "big") + part)
    return h.hexdigest()


def exported(service, session):
    reply = service.get(f"{place(session)}/image")
    assert reply.status == 200, reply
    n = int.from_bytes(reply.body[20:24], "little")
    head, image = json.loads(reply.body[24:24 + n]), reply.body[24 + n:]
    assert head["digest"] == digest_of(image)
    return head, image


def imported(service, head, image):
    text = json.dumps({**head, "bytes": len(image), "digest": digest_of(image)}).encode()
    data = b"BELLJAR SESSION\n" + (1).to_bytes(4, "little") + len(text).to_bytes(4, "little") + text + image
    return service.post("/v1/sessions?from=image", data, headers={"Content-Type": "application/octet-stream"})


def number(data, at):
    return int.from_bytes(data[at:at + 8], "little")


def changed(data, *pairs):
    data = bytearray(data)
    for at, value in pairs:
        data[at:at + 8] = value.to_bytes(8, "little")
    return bytes(data)


def forgeries(image):
    """(why it is refused, or None where the program may also die or live; the bytes)"""
    head = number(image, 8)
    maps, runs = number(image, head + 24), number(image, head + 40)
    kernel_half = 0xffff800000000000
    yield "no whole image", image[:len(image) // 2 // 4096 * 4096]
    yield "no whole image", b"X" + image[1:]
    yield "too many mappings", changed(image, (head + 16, 1_000_000))
    yield "too many", changed(image, (head + 32, 1_000_000))
    yield "another version of the Linux kernel", changed(image, (head + 64, 1))
    yield None, changed(image, (maps, kernel_half), (maps + 8, kernel_half + 4096))
    yield None, changed(image, (runs, kernel_half))
    yield None, changed(image, (runs, 0), (runs + 8, 1 << 46))
    yield None, changed(image, (head, 0x1234))
    yield None, changed(image, (maps + 16, (1 << 64) - 4096))
    chance = random.Random(5)
    for _ in range(2 if ASAN else 8):  # anywhere in the head and its tables
        at = chance.choice([head + chance.randrange(96), maps + chance.randrange(2000), runs + chance.randrange(2000)])
        yield None, changed(image, (at, chance.getrandbits(64)))


@pytest.mark.parametrize("language", ["bash", "sqlite"])
def test_a_forged_image_is_refused_or_harms_only_its_own_jar(service, language):
    """IMAGE-1: mappings outside the guest's half, a million runs, addresses and offsets of an attacker's choice."""
    neighbour, before = begin(service, language)
    head, image = exported(service, neighbour)
    copy = imported(service, head, image)
    assert copy.status == 201 and seen(service, copy.json["id"], language) == before, copy
    end(service, copy.json["id"])
    for why, data in forgeries(image):
        reply = imported(service, head, data)
        if why is not None:
            assert reply.status == 409 and why in reply.error["message"], (why, reply)
        elif reply.status == 201:
            end(service, reply.json["id"])
        else:
            assert reply.status in (409, 503) and reply.error["message"], reply
        assert eventually(lambda: service.get("/v1/sessions").json["sessions"][0]["id"] == neighbour)
    assert seen(service, neighbour, language) == before
    assert seen(service, copies_of(service, neighbour)[0], language) == before


# ---- no room ----

@pytest.mark.parametrize("language", ["bash", "sqlite"])
def test_a_quota_keeps_a_session_awake(language):
    """STORED-4"""
    with Service("--set", "pools.max=0", "--set", "images.max_bytes_per_key=64k") as s:
        session, before = begin(s, language)
        for word in ("sleep", "checkpoints"):
            reply = s.post(f"{place(session)}/{word}")
            assert reply.status == 507 and "images.max_bytes_per_key" in reply.error["message"], reply
        now = look(s, session)
        assert now["state"] == "idle" and "images.max_bytes_per_key" in now["sleep_error"], now
        assert seen(s, session, language) == before and images(s) == []


def test_a_full_disk_keeps_a_session_awake(as_root):
    """The disk is filled by others: the sleep is refused with a sentence, and works when there is room again."""
    s = Service("--set", "pools.max=0", "--set", "storage.min_free=0")
    s.state.mkdir(mode=0o755)
    s.prefix = ["unshare", "-m", "sh", "-c", f'mount -t tmpfs -o size=60m,mode=755 none {s.state} && exec "$@"', "sh"]
    with s:
        state = Path(f"/proc/{s.pid}/root{s.state}")
        session, before = begin(s, "bash")
        execute(s, session, "much=$(head -c 15000000 /dev/zero | tr '\\0' z)")
        filler = state / "filler"
        filler.write_bytes(bytes(40 << 20))
        for word in ("sleep", "checkpoints"):
            reply = s.post(f"{place(session)}/{word}")
            assert reply.status in (500, 503, 507) and "disk" in reply.error["message"].lower(), reply
            assert str(s.state) not in reply.error["message"]
        assert look(s, session)["state"] == "idle" and "disk" in look(s, session)["sleep_error"].lower()
        assert seen(s, session, "bash") == before
        assert eventually(lambda: os.listdir(state / "data" / "images") == [], PATIENCE)
        filler.unlink()
        sleep(s, session)
        assert seen(s, session, "bash") == before
