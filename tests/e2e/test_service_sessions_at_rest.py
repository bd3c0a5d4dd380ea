"""Images that are encrypted or compressed on the disk: images.key_file, images.compress, `compress` of a sleep."""
import json
import os
import secrets
from pathlib import Path

import pytest
from harness import PATIENCE, eventually, public_dir
from hostview import descendants
from service import Service

pytestmark = pytest.mark.release_only  # IPython starts cold there: every session would take seconds
OPTIONS = ("--set", "runs.max=8", "--set", "pools.preload=python-session", "--set", "sessions.max=8")
SECRET = "the words that must not be on the disk"


@pytest.fixture(scope="module")
def folder():
    yield public_dir()


def key_file(folder, *keys, mode=0o400):
    path = folder / secrets.token_hex(8)
    path.write_text("# keys of a test\n" + "\n".join(keys) + "\n")
    path.chmod(mode)
    return path


def with_keys(path):
    return (*OPTIONS, "--set", f"images.key_file={path}")


@pytest.fixture(scope="module")
def keys():
    return [secrets.token_hex(32) for _ in range(2)]


@pytest.fixture(scope="module")
def sealed(folder, keys):
    with Service(*with_keys(key_file(folder, keys[0]))) as s:
        yield s


def create(service, **fields):
    reply = service.post("/v1/sessions", {"language": "python", **fields})
    assert reply.status == 201, reply
    return reply.json["id"]


def value(service, session, code):
    reply = service.post(f"/v1/sessions/{session}/exec", {"code": code})
    assert reply.status == 200 and reply.json["status"] == "ok", reply
    return reply.json["result"]["text/plain"] if reply.json["result"] else None


def sleep(service, session, **fields):
    reply = service.post(f"/v1/sessions/{session}/sleep", fields)
    assert reply.status == 200 and reply.json["state"] == "sleeping", reply


def images(service):
    return sorted(path for path in (service.data / "images").iterdir())


def remember(service, session):
    """The secret is only in the memory of the session, not in the history of its cells."""
    half = len(SECRET) // 2
    value(service, session, f"x = ['{SECRET[:half]}' + '{SECRET[half:]}'] * 3; y = bytearray(b'z' * (8 << 20)); None")


def holds(path, words):
    return words.encode() in path.read_bytes()


def alter(path, at):
    """Changes one byte, and back at the second call."""
    path.chmod(0o600)
    with open(path, "r+b") as f:
        f.seek(at)
        byte = f.read(1)
        f.seek(at)
        f.write(bytes([byte[0] ^ 1]))
    path.chmod(0o400)


def test_an_encrypted_session_wakes_and_nothing_of_it_is_readable(sealed, keys):
    session = create(sealed)
    remember(sealed, session)
    sleep(sealed, session)
    (path,) = images(sealed)
    assert path.stat().st_mode & 0o777 == 0o400 and path.stat().st_size > 8 << 20
    assert not holds(path, SECRET) and not holds(path, "z" * 64)
    for at in (0, 30, 5 << 20, path.stat().st_size - 1):  # the head, the first piece, the middle, the last byte
        alter(path, at)
        reply = sealed.post(f"/v1/sessions/{session}/wake")
        assert reply.status == 409 and "was altered" in reply.error["message"], reply
        alter(path, at)
    assert value(sealed, session, "len(set(x)), x[0], y[8000000]") == f"(1, '{SECRET}', 122)"
    # The key is in no log and no argument of a process.
    arguments = [Path(f"/proc/{p.pid}/cmdline").read_text() for p in descendants(sealed.pid)]
    everything = sealed.log() + "".join(arguments)
    assert keys[0] not in everything and keys[0] not in json.dumps(sealed.get("/v1/health").json)
    assert sealed.delete(f"/v1/sessions/{session}").status == 200
    assert eventually(lambda: images(sealed) == [], 60)


def test_checkpoints_and_templates_are_encrypted_too(sealed):
    session = create(sealed, limits={"memory": "1g"})
    remember(sealed, session)
    marks = []
    for i in range(3):
        value(sealed, session, f"n = {i}")
        reply = sealed.post(f"/v1/sessions/{session}/checkpoints", {"name": f"c{i}"})
        assert reply.status == 201, reply
        marks.append(reply.json["bytes"])
    assert marks[1] < marks[0] // 2, marks  # a later one shares the bytes of its base
    reply = sealed.post("/v1/templates", {"name": "t", "language": "python", "setup": f"word = '{SECRET}'"})
    assert reply.status == 201, reply
    assert len(images(sealed)) == 4 and not any(holds(path, SECRET) for path in images(sealed))
    sleep(sealed, session)  # the memory of its images is free: they are read from the disk
    for i in (1, 0, 2):
        assert sealed.post(f"/v1/sessions/{session}/rollback", {"to": f"c{i}"}).status == 200
        assert value(sealed, session, "n, x[0]") == f"({i}, '{SECRET}')"
    assert sealed.run("print(word)", template="t")["stdout"] == SECRET + "\n"
    assert sealed.delete("/v1/templates/t").status == 200 and sealed.delete(f"/v1/sessions/{session}").status == 200
    assert eventually(lambda: images(sealed) == [], 60)


OCTETS = {"Content-Type": "application/octet-stream"}


def export(service, session, compress=None):
    reply = service.get(f"/v1/sessions/{session}/image", {"compress": compress} if compress else None)
    assert reply.status == 200, reply
    return reply.body


def split(data):
    n = int.from_bytes(data[20:24], "little")
    return json.loads(data[24:24 + n]), data[24 + n:]


def joined(head, image):
    text = json.dumps(head).encode()
    return b"BELLJAR SESSION\n" + (1).to_bytes(4, "little") + len(text).to_bytes(4, "little") + text + image


def test_an_export_of_an_encrypted_session_is_for_everybody(sealed):
    """Another service does not have the key. Where images are encrypted, an import leaves no byte on the disk."""
    session = create(sealed)
    remember(sealed, session)
    sleep(sealed, session)
    data, small = export(sealed, session), export(sealed, session, "true")
    assert SECRET.encode() in data and len(small) < len(data) // 2
    for body in (data, small):
        reply = sealed.post("/v1/sessions?from=image", body, headers=OCTETS)
        assert reply.status == 201, reply
        assert value(sealed, reply.json["id"], "x[0]") == repr(SECRET)
        assert len(images(sealed)) == 1
        keeper = sealed.half("keeper").pid
        files = [os.readlink(f"/proc/{keeper}/fd/{fd}") for fd in os.listdir(f"/proc/{keeper}/fd")]
        assert not any("/images/img_" in f for f in files), files
        assert sealed.delete(f"/v1/sessions/{reply.json['id']}").status == 200
    assert sealed.delete(f"/v1/sessions/{session}").status == 200


def test_keys_rotate_and_a_missing_key_deletes_nothing(folder, keys):
    state = folder / "rotating"
    with Service(*with_keys(key_file(folder, keys[0])), state=state) as s:
        session = create(s)
        remember(s, session)
        sleep(s, session)
        assert s.post("/v1/templates", {"name": "t", "language": "python", "setup": "t = 1"}).status == 201
        before = [path.read_bytes() for path in images(s)]
    for options in (OPTIONS, with_keys(key_file(folder, keys[1]))):  # no key, and another one
        with Service(*options, state=state) as s:
            assert eventually(lambda: s.get("/v1/health").json["status"] == "degraded", 10), s.log()
            health = s.get("/v1/health")
            assert health.status == 200, health
            assert "2 images are encrypted with keys that images.key_file does not have" in health.json["why"]
            assert s.logged("images.no_key", "images=2")
            for reply in (s.post(f"/v1/sessions/{session}/wake"), s.get(f"/v1/sessions/{session}/image")):
                assert reply.status == 503 and "images.key_file does not have" in reply.error["message"], reply
            reply = s.post("/v1/sessions", {"language": "python", "template": "t"})
            assert reply.status == 503 and "images.key_file" in reply.error["message"], reply
            run = s.run("print(t)", template="t")
            assert run["verdict"] == "internal_error" and "images.key_file" in json.dumps(run), run
            other = create(s)  # everything else works
            assert value(s, other, "1 + 1") == "2"
            assert s.delete(f"/v1/sessions/{other}").status == 200
            assert [path.read_bytes() for path in images(s)] == before
    with Service(*with_keys(key_file(folder, keys[1], keys[0])), state=state) as s:  # the new key, then the old one
        assert s.get("/v1/health").json["status"] == "ok"
        assert value(s, session, "x[0]") == repr(SECRET)
        sleep(s, session)
        assert s.delete("/v1/templates/t").status == 200
    with Service(*with_keys(key_file(folder, keys[1])), state=state) as s:  # it was encrypted with the new key
        assert s.get("/v1/health").json["status"] == "ok"
        assert value(s, session, "x[0]") == repr(SECRET)


@pytest.mark.parametrize("make, says", [
    (lambda d, k: key_file(d, k, mode=0o440), "chmod 0400"),
    (lambda d, k: key_file(d, k, mode=0o404), "chmod 0400"),
    (lambda d, k: d / "nothing", "cannot be opened"),
    (lambda d, k: d, "not a regular file"),
    (lambda d, k: key_file(d, k[:-1]), "line 2"),
    (lambda d, k: key_file(d), "has no key"),
], ids=["group", "others", "missing", "directory", "short", "empty"])
def test_a_service_does_not_start_with_a_bad_key_file(folder, keys, make, says):
    s = Service(*with_keys(make(folder, keys[0])))
    try:
        s.start(wait=False)
        assert s.popen.wait(60 * PATIENCE) != 0
        assert says in s.log() and keys[0][:-1] not in s.log(), s.log()
        assert not (s.data / "images").exists() or images(s) == []
    finally:
        s.end()


def test_a_compressed_session_wakes(folder, keys):
    with Service(*with_keys(key_file(folder, keys[0])), "--set", "images.compress=true") as both:
        session = create(both)
        remember(both, session)
        sleep(both, session)
        (path,) = images(both)
        small = path.stat().st_size
        assert not holds(path, SECRET)
        assert value(both, session, "x[0]") == repr(SECRET)
        sleep(both, session, compress=False)
        assert images(both)[0].stat().st_size > 2 * small
    with Service(*OPTIONS) as s:
        session = create(s)
        remember(s, session)
        sleep(s, session, compress=True)
        (path,) = images(s)
        assert path.stat().st_size < 2 * small
        for at in (0, 5000, path.stat().st_size - 1):
            alter(path, at)
            reply = s.post(f"/v1/sessions/{session}/wake")
            assert reply.status == 409 and "altered" in reply.error["message"], reply
            alter(path, at)
        assert value(s, session, "x[0], y[8000000]") == f"('{SECRET}', 122)"


def test_a_compressed_export_is_bounded(folder):
    """The size in its head counts for the quotas, and unfolding stops there."""
    with Service(*OPTIONS, "--set", "images.max_bytes_per_key=256m") as s:
        session = create(s)
        remember(s, session)
        data = export(s, session, "true")
        head, image = split(data)
        assert head["compression"] == "zstd" and head["bytes"] > 2 * len(image)
        reply = s.post("/v1/sessions?from=image", data, headers=OCTETS)
        assert reply.status == 201 and value(s, reply.json["id"], "x[0]") == repr(SECRET), reply
        refused = [
            (400, "announced", joined({**head, "bytes": head["bytes"] - 4096}, image)),
            (400, "announced", joined({**head, "bytes": head["bytes"] + 4096}, image)),
            (507, "max_bytes_per_key", joined({**head, "bytes": 1 << 40}, image)),
            (400, "cut short", joined({**head, "bytes": -1}, image)),
            (400, "announced", joined(head, image[:-10])),
            (400, "announced", joined(head, image + b"more")),
            (400, "altered", joined(head, b"no frame of zstd" + image)),
            (400, "compression", joined({**head, "compression": "gzip"}, image)),
            (400, "cut short", joined({k: v for k, v in head.items() if k != "compression"}, image)),
        ]
        for status, words, body in refused:
            reply = s.post("/v1/sessions?from=image", body, headers=OCTETS)
            assert reply.status == status and words in reply.body.decode(), (words, reply)
        assert s.get(f"/v1/sessions/{session}/image", {"compress": "maybe"}).status == 400
