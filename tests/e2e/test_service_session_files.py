"""The files of a session that lives, over HTTP: also while a cell runs, and in a hostile tree."""

import base64
import os
import signal
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import quote

import pytest
from harness import eventually
from hostview import descendants
from service import Service


@pytest.fixture(scope="module")
def service():
    with Service("--set", "runs.max=8", "--set", "pools.preload=used") as s:
        yield s


def create(service, **fields):
    reply = service.post("/v1/sessions", {"language": "python", **fields})
    assert reply.status == 201, reply
    return reply.json


@pytest.fixture
def session(service):
    s = create(service)
    yield s
    service.delete(f"/v1/sessions/{s['id']}")


def execute(service, session, code):
    reply = service.post(f"/v1/sessions/{session['id']}/exec", {"code": code})
    assert reply.status == 200 and reply.json["status"] == "ok", reply
    return reply.json["stdout"]


def files(session, path=None):
    return f"/v1/sessions/{session['id']}/files" + ("" if path is None else "/" + quote(path))


def listed(service, session, **query):
    reply = service.get(files(session), query)
    assert reply.status == 200, reply
    return reply.json


def test_files_of_a_session_are_written_read_listed_and_removed(service, session):
    data = bytes(range(256)) * 1000
    put = service.put(files(session, "data/in.bin"), data)
    assert put.status == 200 and put.json == {"path": "data/in.bin", "size": len(data)}, put
    assert execute(service, session, "print(len(open('data/in.bin','rb').read()))") == f"{len(data)}\n"
    execute(service, session, "open('data/out.txt','w').write('hello'); import os; os.chmod('data/out.txt', 0o600)")
    got = service.get(files(session, "data/out.txt"))
    assert (got.status, got.body) == (200, b"hello"), got
    assert got.headers["Content-Type"] == "application/octet-stream", got.headers
    assert service.get(files(session, "data/in.bin")).body == data
    rows = {r["path"]: r for r in listed(service, session)["files"]}
    assert (rows["data"]["type"], rows["data/out.txt"]["type"]) == ("directory", "file"), rows
    assert (rows["data/out.txt"]["size"], rows["data/out.txt"]["mode"]) == (5, "0600"), rows
    assert rows["data/out.txt"]["modified_at"].startswith("20"), rows
    inside = listed(service, session, path="data")
    assert [r["path"] for r in inside["files"]] == ["data/in.bin", "data/out.txt"] and inside["cut"] is False, inside
    full = service.delete(files(session, "data"))
    assert full.status == 409 and "remove them first" in full.error["message"], full
    for name in ("data/in.bin", "data/out.txt", "data"):
        assert service.delete(files(session, name)).status == 204
    gone = service.get(files(session, "data/in.bin"))
    assert gone.status == 404 and "data/in.bin" in gone.error["message"], gone
    assert execute(service, session, "print(os.path.exists('data'))") == "False\n"
    assert service.put(files(session, "empty"), b"").json["size"] == 0
    assert service.get(files(session, "empty")).body == b""


def test_files_of_a_session_are_reached_while_a_cell_runs(service, session):
    """The cell waits for the file that the client writes."""
    code = ("import os, time\n"
            "open('begun','w').write('x')\n"
            "while not os.path.exists('go'): time.sleep(.005)\n"
            "while True: pass")
    started = service.post(f"/v1/sessions/{session['id']}/exec", {"code": code, "wait": False})
    assert started.status in (200, 202), started
    assert eventually(lambda: service.get(files(session, "begun")).status == 200)
    assert service.get(f"/v1/sessions/{session['id']}").json["state"] == "busy"
    assert service.put(files(session, "go"), b"now").status == 200
    assert service.get(files(session, "go")).body == b"now"
    assert {r["path"] for r in listed(service, session)["files"]} >= {"begun", "go"}
    assert service.post(f"/v1/sessions/{session['id']}/interrupt").status == 202


def test_a_hostile_tree_of_a_session_harms_nobody(service, session):
    execute(service, session, """
import os
os.mkfifo('fifo'); os.mkdir('dir'); os.symlink('/etc/passwd', 'link'); os.symlink('/etc', 'etc')
open(b'odd\\n\\xff', 'w').write('odd'); open('sparse', 'w').truncate(1 << 30)
os.makedirs('locked/in'); os.chmod('locked', 0)
os.utime(b'odd\\n\\xff', (2**40, 2**40))
deep = '/'.join(['d' * 200] * 4); os.makedirs(deep)
""")
    for name, status, word in [("fifo", 409, "regular file"), ("dir", 409, "directory"), ("link", 409, "symbolic link"),
                               ("etc/passwd", 409, "symbolic link"), ("sparse", 413, "16777216"),
                               ("locked/in", 409, "the right to it"), ("none", 404, "lists the files"),
                               ("../outside", 400, ".."), ("/etc/passwd", 400, "absolute"),
                               ("a//b", 400, "empty part")]:
        got = service.get(files(session) + "/" + quote(name))
        assert got.status == status and word in got.error["message"], (name, got)
        if status != 404:
            put = service.put(files(session) + "/" + quote(name), b"x")
            assert put.status == (200 if name == "sparse" else status), (name, put)
    assert service.get(files(session, "sparse")).body == b"x"
    odd = service.get(files(session) + "/odd%0A%FF")
    assert (odd.status, odd.body) == (200, b"odd"), odd
    rows = listed(service, session)["files"]
    row = next(r for r in rows if "path_base64" in r)
    assert base64.b64decode(row["path_base64"]) == b"odd\n\xff" and row["modified_at"] is None, row
    types = {r["path"]: r["type"] for r in rows}
    assert (types["fifo"], types["link"], types["dir"]) == ("other", "symlink", "directory"), types
    assert not any(r["path"].startswith("locked/") for r in rows), rows
    assert service.delete(files(session, "link")).status == 204
    assert execute(service, session, "print(os.path.lexists('link'), os.path.exists('/etc/passwd'))") == "False True\n"


def test_a_file_that_grows_while_it_is_read_is_cut_at_its_size(service, session):
    execute(service, session, """
import threading, time
out = open('log', 'ab', buffering=0); out.write(b'x' * 1000000)
def grow():
    end = time.time() + 2
    while time.time() < end and out.tell() < 8000000: out.write(b'y' * 10000); time.sleep(.001)
threading.Thread(target=grow, daemon=True).start()
""")
    sizes = [len(service.get(files(session, "log")).body) for _ in range(5)]
    assert sizes == sorted(sizes) and sizes[0] >= 1000000 and sizes[-1] <= 8100000, sizes


def test_a_file_that_does_not_fit_leaves_the_old_one(service):
    s = create(service, limits={"disk": "1m"})
    assert service.put(files(s, "f"), b"old").status == 200
    full = service.put(files(s, "f"), bytes(2 << 20))
    assert full.status == 507 and "disk" in full.error["message"], full
    assert service.get(files(s, "f")).body == b"old"
    assert [r["path"] for r in listed(service, s)["files"] if "belljar" in r["path"]] == []
    assert execute(service, s, "print(1)") == "1\n"
    large = service.put(files(s, "f"), bytes((16 << 20) + 1))
    assert large.status == 413 and "16777216" in large.error["message"], large
    service.delete(f"/v1/sessions/{s['id']}")


def test_files_of_a_session_whose_directory_is_lost(service, session):
    execute(service, session, "import os; os.chmod('/sandbox', 0)")
    for reply in (service.get(files(session)), service.get(files(session, "x")), service.put(files(session, "x"), b"")):
        assert reply.status == 409 and "right" in reply.error["message"], reply


def test_files_end_with_their_session(service, session):
    assert service.get("/v1/sessions/ses_none/files").status == 404
    s = create(service)
    assert service.put(files(s, "f"), b"x").status == 200
    assert service.get(files(session, "f")).status == 404
    assert service.delete(f"/v1/sessions/{s['id']}").status == 200
    for method, path in (("GET", "f"), ("GET", None), ("PUT", "f"), ("DELETE", "f")):
        reply = service.request(method, files(s, path), b"" if method == "PUT" else None)
        assert reply.status == 410 and "deleted" in reply.error["message"], reply


def test_a_file_for_which_a_session_has_no_memory_costs_no_variables(service):
    """The bytes of a file are memory of the session. The kernel would kill the program to make room for them."""
    limit = 200 << 20
    s = create(service, limits={"memory": limit, "disk": "150m"})
    execute(service, s, "y = 7")
    used = service.get(f"/v1/sessions/{s['id']}").json["memory_bytes"]
    execute(service, s, f"x = bytearray(b'x') * {limit - used - (10 << 20)}")
    for _ in range(2):
        full = service.put(files(s, "f"), bytes(16 << 20))
        assert full.status == 507 and "memory" in full.error["message"], full
    assert execute(service, s, "print(y)") == "7\n"
    assert service.put(files(s, "f"), b"small").status == 200
    service.delete(f"/v1/sessions/{s['id']}")


def test_names_of_files_are_checked_as_they_are_after_decoding(service, session):
    """A slash is a slash, also if it is written as %2f."""
    for name, words in [("..", "'..'"), ("%2e%2e", "'..'"), ("%2e%2e%2fx", "'..'"), ("a%2f..%2fb", "'..'"),
                        ("./a", "'..'"), ("%2f", "absolute"), ("%2fetc%2fpasswd", "absolute"), ("a/", "empty part"),
                        ("a%00b", "escape"), ("x" * 300, "part")]:
        for method in ("GET", "PUT", "DELETE"):
            reply = service.request(method, files(session) + "/" + name, b"x" if method == "PUT" else None)
            assert reply.status == 400 and words in reply.error["message"], (method, name, reply)
    for method in ("GET", "PUT", "DELETE"):
        assert service.request(method, files(session) + "/", b"" if method == "PUT" else None).status == 404
    for query in ("..", "/etc", "a//b"):
        assert service.get(files(session), {"path": query}).status == 400
    assert listed(service, session)["files"] == []
    put = service.put(files(session) + "/a%2fb%ff", b"x")
    assert put.status == 200 and base64.b64decode(put.json["path_base64"]) == b"a/b\xff", put
    assert [r["path"] for r in listed(service, session)["files"]] == ["a", "a/b�"]
    assert service.delete(files(session) + "/a/b%FF").status == 204


def test_a_list_of_very_many_files_is_cut_and_says_so(service):
    s = create(service, limits={"files": 100000, "memory": "1g"})
    execute(service, s, "import os\nfor i in range(99000): os.close(os.open(f'f{i}', os.O_CREAT))")
    many = listed(service, s)
    assert many["cut"] is True and len(many["files"]) == 10000, (many["cut"], len(many["files"]))
    execute(service, s, "os.mkdir('few'); open('few/one', 'w').close()")
    few = listed(service, s, path="few")
    assert [r["path"] for r in few["files"]] == ["few/one"] and few["cut"] is False, few
    service.delete(f"/v1/sessions/{s['id']}")


def test_a_file_that_meets_a_limit_names_it(service):
    s = create(service, limits={"files": 100})
    execute(service, s, "i = 0\ntry:\n  while True: open(f'f{i}', 'w').close(); i += 1\nexcept OSError: pass")
    full = service.put(files(s, "one-more"), b"x")
    assert full.status == 507 and "'files'" in full.error["message"], full
    assert service.delete(files(s, "f0")).status == 204
    assert service.put(files(s, "one-more"), b"x").status == 200
    service.delete(f"/v1/sessions/{s['id']}")


def test_changes_of_files_are_in_the_audit_log_and_need_it(service):
    with Service() as s:
        made = create(s)
        assert s.put(files(made, "data/a"), b"12345").status == 200
        assert s.get(files(made, "data/a")).status == 200
        assert s.delete(files(made, "data/a")).status == 204
        assert s.delete(files(made, "missing")).status == 404  # a try is recorded as well
        assert s.put(files(made, "../x"), b"").status == 400  # it cannot become a change
        log = [line for line in s.cli("audit", "show", "-n", "100").out.decode().splitlines() if "session.file" in line]
        assert len(log) == 3 and all(made["id"] in line for line in log), log
        assert "session.file_write" in log[0] and '"data/a"' in log[0] and "5" in log[0].rpartition("size")[2], log
        assert "session.file_remove" in log[1] and '"data/a"' in log[1] and '"missing"' in log[2], log
        assert s.cli("audit", "verify").status == 0


def test_a_change_of_a_file_evades_neither_rules_nor_approvers(service):
    """A file can be code: a module, or a program in PATH. An approver sees the cell alone."""
    with Service() as s:
        made = create(s)
        assert s.post("/v1/rules", {"action": "deny", "match": "contains", "text": "NEVER"}).status == 201
        for name, body in (("helper.py", b"x = 'NEVER'"), ("NEVER.py", b"")):
            denied = s.put(files(made, name), body)
            assert denied.status == 403 and "denied by rule" in denied.error["message"], denied
        assert listed(s, made)["files"] == []
        assert s.put(files(made, "helper.py"), b"x = 'ever'").status == 200
    with Service("--set", "approvals.mode=manual") as s:
        made = create(s)
        for reply in (s.put(files(made, "os.py"), b"evil()"), s.delete(files(made, "x"))):
            assert reply.status == 403 and "shown to nobody" in reply.error["message"], reply
        assert listed(s, made)["files"] == []


def test_files_belong_to_the_key_of_their_session(service):
    with Service() as s:
        keys = {name: s.add_key(name, scopes) for name, scopes in
                (("owner", "run"), ("other", "run"), ("seer", "read"), ("both", "run,read"), ("chief", "run,admin"))}
        assert eventually(lambda: s.get("/v1/runs").status == 401)
        made = s.post("/v1/sessions", {"language": "bash"}, key=keys["owner"]).json
        assert s.put(files(made, "f"), b"mine", key=keys["owner"]).status == 200
        for key, status in (("other", 404), ("seer", 403), ("both", 403)):
            for method, path in (("GET", None), ("GET", "f"), ("PUT", "f"), ("DELETE", "f")):
                reply = s.request(method, files(made, path), b"other" if method == "PUT" else None, key=keys[key])
                assert reply.status == status and b"mine" not in reply.body, (key, method, reply)
        assert s.get(files(made, "f"), key=keys["chief"]).body == b"mine"
        assert s.delete(files(made, "f"), key=keys["chief"]).status == 204
        assert s.get(files(made, "f"), unix=True).status == 404  # the operator may look: it is removed


def test_requests_about_files_of_a_session_that_ends_are_answered(service):
    """There is an answer at any moment, no clerk is left, and neither keeper nor warden dies. No connection is taken
    for a pipe of the session whose number it got."""
    keeper, warden = service.half("keeper").pid, service.half("warden").pid

    for _ in range(3):
        s = create(service)
        assert service.put(files(s, "f"), bytes(4 << 20)).status == 200
        with ThreadPoolExecutor(6) as pool:
            requests = [("GET", files(s, "f")), ("PUT", files(s, "g"), b"x"), ("GET", files(s)),
                        ("DELETE", files(s, "f"))]
            asked = [pool.submit(service.request, *q) for q in requests * 4]
            assert service.delete(f"/v1/sessions/{s['id']}").status == 200
            statuses = {a.result().status for a in asked}
        assert statuses <= {200, 204, 404, 410, 503}, statuses
        assert service.get(files(s, "f")).status == 410
    assert (service.half("keeper").pid, service.half("warden").pid) == (keeper, warden)
    assert eventually(lambda: not [p for p in descendants(service.pid) if p.ppid == warden and p.comm == "jar-clerk"])


def test_files_of_a_session_are_reached_by_the_next_keeper():
    """The session survives the death of the keeper, and so do the ways to its files."""
    with Service("--set", "runs.max=8", "--set", "pools.preload=used") as s:
        made = create(s)
        assert s.put(files(made, "before"), b"1").status == 200
        old = s.half("keeper").pid
        os.kill(old, signal.SIGKILL)
        assert eventually(lambda: s.half("keeper").pid != old)

        def answered(f):
            try:
                return f()
            except OSError:
                return None

        assert eventually(lambda: getattr(answered(lambda: s.get(files(made, "before"))), "body", None) == b"1")
        assert s.put(files(made, "after"), b"2").status == 200
        assert {r["path"] for r in listed(s, made)["files"]} == {"before", "after"}
        assert execute(s, made, "print(open('after').read())") == "2\n"
