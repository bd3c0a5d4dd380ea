"""Sessions with a network (R4.2): their lists, while they live, after each death of a process of ours, and in copies.
The servers of the world say which connections there were."""

import os
import signal
import socket
import threading

import pytest

from harness import ROOT, belljar, eventually
from service import Service
from sessions import checkpoint, copies_of, create, end, execute, kill_keeper, look, place, roll_back, sleep
from world import PRIVATE, WORLD, World

pytestmark = pytest.mark.skipif(not ROOT, reason="it takes root to make the namespaces of the test")

WEB, ECHO, ALL = ["web.example.org:80"], ["web.example.org:7"], ["web.example.org:80", "web.example.org:7"]
MAX = "*.example.org:80,*.example.org:7,udp:web.example.org:7"
FETCH = """
def fetch(port=80):
    import socket
    try:
        with socket.create_connection(("web.example.org", port), 30) as s:
            return s.recv(5).decode()
    except OSError as e:
        return type(e).__name__
"""
HOLD = "import socket; held = socket.create_connection(('web.example.org', 7)); held.sendall(b'x'); held.recv(1)"
BASH = 'exec 5<>/dev/tcp/web.example.org/80 && head -c 5 <&5; exec 5>&-'


class Near:
    """The service of a world, which only its unix socket reaches from here."""

    def __init__(self, service):
        self.service = service

    def __getattr__(self, name):
        return getattr(self.service, name)

    def reachable(self):
        try:
            return self.get("/v1/health").status == 200
        except OSError:
            return False

    def get(self, path, **more):
        return self.service.get(path, unix=True, **more)

    def post(self, path, body=None, **more):
        return self.service.post(path, body, unix=True, **more)

    def patch(self, path, body):
        return self.service.request("PATCH", path, body, unix=True)

    def delete(self, path):
        return self.service.delete(path, unix=True)


class Echo:
    """A server that knows how each of its connections ended."""

    def __init__(self):
        self.open, self.ends, self.lock = 0, [], threading.Lock()

    def handle(self, c):
        with self.lock:
            self.open += 1
        try:
            while data := c.recv(65536):
                c.sendall(data)
            how = "closed"
        except OSError:
            how = "reset"
        with self.lock:
            self.open -= 1
            self.ends.append(how)


@pytest.fixture(scope="module")
def world():
    with World() as w:
        w.say(80, b"hello")
        w.echo_server = Echo()
        w.listen(7, w.echo_server.handle)
        w.name("web.example.org", WORLD)
        yield w


@pytest.fixture(scope="module")
def service(world):
    with Service("--set", f"network.max={MAX}", "--set", f"network.private={PRIVATE}",
                 "--set", "network.connections_total=12", prefix=world.prefix()) as s:
        yield Near(s)


def start(service, allow, code=FETCH, **fields):
    session = create(service, network={"allow": allow}, **fields)
    if code:
        execute(service, session, code)
    return session


def says(service, session, code):
    r = execute(service, session, code)
    assert r["verdict"] == "ok", r
    return r["stdout"].strip(), r


def change(service, session, network):
    return service.patch(place(session), {"network": network})


def test_cells_reach_the_list_and_have_its_records(service):
    session = start(service, WEB)
    assert look(service, session)["network"] == {"allow": WEB}
    out, r = says(service, session, "print(fetch())")
    assert out == "hello"
    assert [(x["host"], x["port"], x["outcome"]) for x in r["network"]["log"]] == [("web.example.org", 80, "closed")]
    out, r = says(service, session, "import socket; print([socket.socket().connect_ex(('8.8.8.8', 80)) for _ in '12'])")
    assert out == "[101, 101]" and r["network"]["unrouted"] == 2, r
    out, r = says(service, session, "print(1)")
    assert r["network"]["log"] == [] and r["network"]["complete"] and r["network"]["unrouted"] == 0, r
    out, r = says(service, session, "print(fetch(81))")
    assert out == "ConnectionRefusedError" and (r["network"]["refused"], r["network"]["unrouted"]) == (1, 0), r
    out, r = says(service, session, "print(fetch())")
    assert out == "hello" and r["network"]["refused"] == 0, r
    end(service, session)


def test_session_without_a_list_has_no_network(service):
    session = create(service)
    execute(service, session, FETCH)
    out, r = says(service, session, "print(fetch())")
    assert out == "gaierror" and r["network"] is None, r
    end(service, session)


@pytest.mark.parametrize("language,code", [("bash", BASH), ("javascript", """
await new Promise(done => { const s = require('net').connect(80, 'web.example.org');
  s.on('data', d => { console.log(d.toString()); s.destroy(); done(); }); })""")])
def test_sessions_of_other_languages_have_a_network(service, language, code):
    session = start(service, WEB, code=None, language=language)
    out, _ = says(service, session, code)
    assert out == "hello"
    end(service, session)


def test_narrower_list_resets_connections_at_once(world, service):
    """The server sees the reset before the request is answered, or at once after it."""
    session = start(service, ALL)
    _, r = says(service, session, HOLD)
    assert world.echo_server.open == r["network"]["connections"] == 1 and r["network"]["log"][0]["outcome"] == "open", r
    reply = change(service, session, {"allow": WEB})
    assert reply.status == 200 and reply.json["network"] == {"allow": WEB}, reply
    assert eventually(lambda: world.echo_server.open == 0, 20)
    out, _ = says(service, session, "print(fetch(), fetch(7))")
    assert out == "hello ConnectionRefusedError"
    assert change(service, session, "none").status == 200
    assert says(service, session, "print(fetch())")[0] == "gaierror"
    end(service, session)


@pytest.mark.parametrize("network", [{"allow": WEB}, {"allow": ["other.example.org:7"]}, "none"], ids=str)
def test_tighter_network_cuts_the_connection_of_a_running_cell(world, service, network):
    """Neither end takes the part that it has for the whole."""
    session, answers = start(service, ALL), []
    before = len(world.echo_server.ends)
    code = HOLD + "\ntry: print('whole', held.recv(1))\nexcept OSError as e: print(e.errno)"
    thread = threading.Thread(target=lambda: answers.append(says(service, session, code)[0]))
    thread.start()
    assert eventually(lambda: world.echo_server.open == 1, 20)
    assert change(service, session, network).status == 200
    thread.join(30)
    assert answers == ["104"]
    assert eventually(lambda: world.echo_server.ends[before:] == ["reset"], 20), world.echo_server.ends
    end(service, session)


def test_narrower_list_keeps_the_other_connections(world, service):
    session = start(service, ALL)
    says(service, session, HOLD)
    assert change(service, session, {"allow": ECHO}).status == 200
    assert says(service, session, "held.sendall(b'y'); print(held.recv(1))")[0] == "b'y'"
    assert says(service, session, "print(fetch())")[0] == "ConnectionRefusedError"
    end(service, session)
    assert eventually(lambda: world.echo_server.open == 0, 20)


def test_narrower_list_refuses_an_address_that_the_program_remembers(world, service):
    """Another name has the same port still: connect() fails nevertheless, and does not seem to succeed."""
    world.name("other.example.org", WORLD)
    session = start(service, [*WEB, "other.example.org:80"])
    code = "import socket; kept = socket.gethostbyname('other.example.org')\n" \
           "def again(): return socket.socket().connect_ex((kept, 80))\nprint(again())"
    assert says(service, session, code)[0] == "0"
    assert change(service, session, {"allow": WEB}).status == 200
    assert says(service, session, "print(again(), fetch())")[0] == "111 hello"
    end(service, session)


def test_narrower_list_ends_exchanges_of_datagrams(world, service):
    """An answer that is sent later does not arrive, and the log has the end."""
    clock = world.socket(socket.SOCK_DGRAM, WORLD, 7)
    session = create(service, network={"allow": WEB, "udp": ECHO})
    code = "import socket; held = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); held.settimeout(1)\n" \
           "held.connect(('web.example.org', 7)); held.send(b'x')"
    execute(service, session, code)
    _, who = clock.recvfrom(10)
    assert change(service, session, {"allow": WEB}).status == 200
    clock.sendto(b"late", who)
    code = "try: print(held.recv(10))\nexcept OSError as e: print(type(e).__name__)"
    out, r = says(service, session, code)
    assert out == "TimeoutError", r
    assert [(e["protocol"], e["outcome"]) for e in r["network"]["log"]] == [("udp", "denied_port")], r
    end(service, session)


def test_wider_list_is_within_the_maximum(service):
    session = start(service, WEB)
    assert says(service, session, "print(fetch(7))")[0] == "ConnectionRefusedError"
    _, r = says(service, session, "import socket; socket.socket().connect_ex(('8.8.8.8', 80))")
    assert r["network"]["unrouted"] == 1, r
    reply = change(service, session, {"allow": ["db.example.org:5432"]})
    assert reply.status == 403 and "network.max" in reply.error["message"], reply
    assert change(service, session, {"allow": ALL}).status == 200
    _, r = says(service, session, "print(1)")
    assert r["network"]["unrouted"] == 0, r  # the counts of the namespace go on, and those of the cell do not
    code = "import socket; s = socket.create_connection(('web.example.org', 7)); s.sendall(b'z'); print(s.recv(1))"
    assert says(service, session, code)[0] == "b'z'"
    assert says(service, session, "s.close(); print(fetch())")[0] == "hello"
    end(service, session)


def test_name_keeps_its_address_whatever_the_list(world, service):
    """A program may remember it: it never leads to another host."""
    world.name("aaa.example.org", WORLD)
    world.name("bbb.example.org", WORLD)
    session = start(service, ["web.example.org:80"])
    code = "import socket; kept = socket.gethostbyname('web.example.org'); print(kept)"
    kept, _ = says(service, session, code)
    assert change(service, session, {"allow": ["aaa.example.org:80", "web.example.org:80"]}).status == 200
    code = "s = socket.create_connection((kept, 80)); print(s.recv(5), socket.gethostbyname('web.example.org'))"
    out, r = says(service, session, code)
    assert out == f"b'hello' {kept}" and r["network"]["log"][0]["host"] == "web.example.org", r
    assert change(service, session, {"allow": ["*.example.org:7"]}).status == 200
    code = "print(socket.gethostbyname('bbb.example.org') != kept, socket.gethostbyname('web.example.org') == kept)"
    assert says(service, session, code)[0] == "True True"
    end(service, session)


def test_copy_has_the_list_or_a_narrower_one(service):
    session = start(service, ALL, limits={"memory": 1 << 30})  # the images of living copies are on its account
    copy, = copies_of(service, session)
    assert look(service, copy)["network"] == {"allow": ALL} and says(service, copy, "print(fetch())")[0] == "hello"
    narrow, = copies_of(service, session, network={"allow": ECHO})
    assert says(service, narrow, "print(fetch())")[0] == "ConnectionRefusedError"
    reply = service.post(place(narrow) + "/fork", {"network": {"allow": WEB}})
    assert reply.status == 403, reply
    point = checkpoint(service, session)
    roll_back(service, session, point["id"])
    assert says(service, session, "print(fetch())")[0] == "hello"
    for s in (session, copy, narrow):
        end(service, s)


def test_session_has_its_network_after_a_sleep(service):
    session = start(service, WEB)
    sleep(service, session)
    assert says(service, session, "print(fetch())")[0] == "hello"
    end(service, session)


def test_session_has_its_network_after_the_death_of_the_porter(world, service):
    session = start(service, ALL)
    says(service, session, HOLD)
    dead = service.half("porter").pid
    os.kill(dead, signal.SIGKILL)
    assert eventually(lambda: world.echo_server.open == 0, 20)
    assert eventually(lambda: not os.path.exists(f"/proc/{dead}"), 20)
    assert says(service, session, "print(fetch())")[0] == "hello"
    end(service, session)


def test_session_has_its_network_after_the_death_of_the_keeper(world, service):
    session = start(service, ALL)
    says(service, session, HOLD)
    kill_keeper(service)
    assert eventually(lambda: world.echo_server.open == 0, 20)
    assert says(service, session, "print(fetch())")[0] == "hello"
    assert look(service, session)["network"] == {"allow": ALL}
    end(service, session)


def test_cap_counts_for_each_cell_anew(service):
    session = start(service, WEB)
    out, r = says(service, session, "print([fetch() for _ in range(14)].count('hello'))")
    assert out == "12" and "network_limit" in r["limits_hit"], r
    out, r = says(service, session, "print([fetch() for _ in range(3)].count('hello'))")
    assert out == "3" and r["limits_hit"] == [], r
    end(service, session)


def test_setup_of_a_template_and_its_runs_have_their_own_networks(service):
    reply = service.post("/v1/templates", {"name": "fetched", "language": "python", "network": {"allow": WEB},
                                           "setup": FETCH + "found = fetch()"})
    assert reply.status == 201, reply
    r = service.run("print(found, fetch())", unix=True, template="fetched")
    assert r["stdout"] == "hello gaierror\n" and r["network"] is None, r
    for _ in range(2):  # the second one begins in a program that waited
        r = service.run("print(found, fetch())", unix=True, template="fetched", network={"allow": WEB})
        assert r["stdout"] == "hello hello\n" and r["network"]["connections"] == 1, r
    assert service.delete("/v1/templates/fetched").status == 200


def test_wider_list_is_refused_if_a_person_would_have_to_approve_it(world):
    with Service("--set", f"network.max={MAX}", "--set", f"network.private={PRIVATE}",
                 "--set", "approvals.mode=default", prefix=world.prefix()) as s:
        service = Near(s)
        session = create(service, network={"allow": ALL})
        reply = change(service, session, {"allow": [*ALL, "other.example.org:80"]})
        assert reply.status == 403 and "another session" in reply.error["message"], reply
        assert change(service, session, {"allow": WEB}).status == 200
        assert change(service, session, {"allow": ALL}).status == 403
        assert look(service, session)["network"] == {"allow": WEB}


def test_session_at_the_terminal_has_a_network(world, service):
    r = belljar("repl", "--allow-net", "web.example.org:80", "bash", stdin=(BASH + "\n").encode(),
                environ={**os.environ, "BELLJAR_STATE": str(service.state)}, prefix=world.prefix())
    assert r.status == 0 and b"hello" in r.out, r
    session = create(service, "bash")
    r = belljar("session", "network", session, "web.example.org:80",
                environ={**os.environ, "BELLJAR_STATE": str(service.state)}, prefix=world.prefix())
    assert r.status == 0 and look(service, session)["network"] == {"allow": WEB}, r
    end(service, session)
