"""Secrets that the guest never holds (R4.2): a header is added outside the jar, to requests to one host."""

import json
import os
import shutil
import signal

import pytest

from harness import ROOT, belljar, eventually
from hostview import descendants
from service import Service
from sessions import copies_of, create, end, execute, look, place
from test_network_sessions import Near
from tls import Authority, Web
from world import PRIVATE, WORLD, World

pytestmark = pytest.mark.skipif(not ROOT, reason="it takes root to make the namespaces of the test")

SECRET = "s3cr3t-value-of-the-operator"
FILED = "another-value-in-a-file"
HOST, OTHER = "api.example.org", "other.example.org"
INJECT = {"host": HOST, "header": "Authorization", "secret": "API_KEY", "prefix": "Bearer "}
WIRE_FORM = f"Authorization: Bearer {SECRET}\r\n".encode()
ASK = """
import http.client, ssl
def ask(host="api.example.org", method="GET", target="/v1/things?x=1", port=443, body=None, headers={}):
    try:
        c = http.client.HTTPSConnection(host, port, timeout=30)
        c.request(method, target, body, headers)
        r = c.getresponse()
        return f"{r.status} {r.read().decode()}"
    except OSError as e:
        return type(e).__name__
def raw(request, name="api.example.org", alpn=("http/1.1",)):
    import socket
    context = ssl.create_default_context()
    context.set_alpn_protocols(list(alpn))
    try:
        with socket.create_connection(("api.example.org", 443), 30) as plain:
            with context.wrap_socket(plain, server_hostname=name) as s:
                s.sendall(request)
                data = b""
                while piece := s.recv(65536):
                    data += piece
                return data.split(b"\\r\\n")[0].decode()
    except OSError as e:
        return type(e).__name__
"""


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tls")
    with World() as w:
        w.authority = Authority(folder)
        w.web = Web(w.authority.context(HOST, OTHER))
        w.listen(443, w.web)
        w.wrong_name = Web(w.authority.context("elsewhere.example.org"))
        w.listen(444, w.wrong_name)
        w.stranger = Web(Authority(folder, "stranger").context(HOST))
        w.listen(445, w.stranger)
        w.plain = Web()
        w.listen(80, w.plain)
        w.name(HOST, WORLD)
        w.name(OTHER, WORLD)
        yield w


@pytest.fixture(scope="module")
def service(world, tmp_path_factory):
    file = tmp_path_factory.mktemp("secrets") / "values"
    file.write_text(f"# of the operator\nFILED={FILED}\n")
    file.chmod(0o600)
    grants = (f"API_KEY={HOST} {HOST}:444 {HOST}:445; FILED={HOST} header:X-Api-Key; ELSEWHERE={OTHER}; "
              f"OF_A_KEY={HOST} key:someone")
    with Service("--set", "network.max=*.example.org:443,*.example.org:80,*.example.org:444,*.example.org:445", "--set",
                 f"network.private={PRIVATE}", "--set", f"network.secrets={grants}", "--set",
                 f"network.secrets_file={file}", "--set", "pools.max=2", prefix=world.prefix(),
                 environ={"BELLJAR_SECRET_API_KEY": SECRET, "SSL_CERT_FILE": str(world.authority.pem),
                          "BELLJAR_SECRET_ELSEWHERE": "e-value", "BELLJAR_SECRET_OF_A_KEY": "k-value"}) as s:
        yield s


def local(world, code, *options, inject=(f"{HOST}:Authorization=Bearer API_KEY",), language="python"):
    environ = {**os.environ, "BELLJAR_SECRET_API_KEY": SECRET, "SSL_CERT_FILE": str(world.authority.pem)}
    options = [x for i in inject for x in ("--inject", i)] + list(options)
    return belljar("run", "--local", "--json", "-l", language, "--allow-net", HOST, "--allow-private", PRIVATE,
                   *options, "-", stdin=code.encode(), environ=environ, prefix=world.prefix(), within=120)


def run(service, code, *allow, inject=(INJECT,), **fields):
    return service.run(ASK + code, unix=True, network={"allow": list(allow or [HOST]), "inject": list(inject)},
                       **fields)


def refusal(service, *inject, allow=(HOST,)):
    reply = service.post("/v1/runs", {"language": "python", "code": "1",
                                     "network": {"allow": list(allow), "inject": list(inject)}}, unix=True)
    return reply.status, reply.error["message"]


def outcomes(r):
    return [e["outcome"] for e in r["network"]["log"]]


def files_with(folder, *texts):
    return [p for p in folder.rglob("*") if p.is_file() and any(t.encode() in p.read_bytes() for t in texts)]


# ---- it arrives ----

def test_header_with_a_secret_is_added_outside_the_jar(world, service):
    before = len(world.web.seen)
    r = run(service, "print(ask(headers={'authorization': 'mine', 'X-Other': '1'}), ask(body='abc', method='POST'))")
    assert (r["stdout"], outcomes(r)) == ("200 hi 200 hi\n", ["closed", "closed"]), r
    got, posted = sorted(world.web.seen[before:])
    assert got.startswith(b"GET /v1/things?x=1 HTTP/1.1\r\nHost: api.example.org\r\n" + WIRE_FORM), got
    assert got.lower().count(b"authorization:") == 1 and b"X-Other: 1\r\n" in got and b"mine" not in got, got
    assert posted.endswith(b"\r\n\r\nabc") and WIRE_FORM in posted, posted


def test_secret_of_a_file_is_added_in_its_own_header(world, service):
    before = len(world.web.seen)
    r = run(service, "print(ask())", inject=[{"host": HOST, "header": "X-Api-Key", "secret": "FILED"}])
    assert r["stdout"] == "200 hi\n", r
    assert f"X-Api-Key: {FILED}\r\n".encode() in world.web.seen[before]


def test_run_without_a_service_takes_the_secret_of_the_caller(world):
    before = len(world.web.seen)
    r = local(world, ASK + "print(ask())")
    assert r.json["stdout"] == "200 hi\n" and WIRE_FORM in world.web.seen[before], r


@pytest.mark.parametrize("language,code", [
    ("bash", "env -i curl -sS https://api.example.org/"),
    ("bash", "env -i PATH=/usr/bin git ls-remote https://api.example.org/x.git 2>&1 | grep -o 'not found' || true"),
    ("javascript", "fetch('https://api.example.org/').then(r => r.text()).then(t => process.stdout.write(t))"),
    ("go", 'package main\nimport ("fmt"; "io"; "net/http"; "os")\nfunc main() {\n'
           'os.Clearenv(); r, e := http.Get("https://api.example.org/")\nif e != nil { panic(e) }\n'
           'b, _ := io.ReadAll(r.Body); fmt.Print(string(b)) }'),
    ("java", 'public class Main { public static void main(String[] a) throws Exception { System.out.write('
             'new java.net.URL("https://api.example.org/").openStream().readAllBytes()); System.out.flush(); } }'),
    ("ruby", "require 'net/http'; ENV.clear; print Net::HTTP.get(URI('https://api.example.org/'))"),
    ("php", "<?php echo file_get_contents('https://api.example.org/');"),
])
def test_programs_trust_the_authority_of_their_run(world, language, code):
    if not shutil.which({"javascript": "node"}.get(language, language)):
        pytest.skip(f"{language} is not installed")
    before = len(world.web.seen)
    r = local(world, code, "--memory", "1g", "--timeout", "60s", "--compile-limit", "timeout=2m", "--pids", "256",
              language=language)
    assert r.json["verdict"] == "ok" and len(world.web.seen) > before, r
    assert all(WIRE_FORM in seen for seen in world.web.seen[before:]), world.web.seen[before:]


# ---- it goes nowhere else ----

def test_guest_finds_the_secret_nowhere(service):
    """The program has both halves of it, and looks for the whole."""
    code = f"""
import os
first, second = b"{SECRET[:9]}", b"{SECRET[9:]}"
found = []
def look(name, data):
    at = data.find(first)
    while at >= 0:
        if data[at + len(first):at + len(first) + len(second)] == second: found.append(name)
        at = data.find(first, at + 1)
def read(path):
    try:
        with open(path, "rb") as f: look(path, f.read())
    except OSError: pass
print(ask())
for pid in filter(str.isdigit, os.listdir("/proc")):
    for file in ("environ", "cmdline", "maps"): read(f"/proc/{{pid}}/{{file}}")
seen = 0
with open("/proc/self/mem", "rb", 0) as mem:
    for line in open("/proc/self/maps"):
        low, high = (int(x, 16) for x in line.split()[0].split("-"))
        if "r" not in line.split()[1] or "[v" in line: continue
        try:
            mem.seek(low); look(line, mem.read(high - low)); seen += 1
        except (OSError, OverflowError, ValueError): pass
for folder in ("/sandbox", "/tmp", "/etc", "/run", "/dev/shm"):
    for root, _, names in os.walk(folder):
        for n in names: read(os.path.join(root, n))
print(seen > 10, found)
"""
    r = run(service, code, limits={"memory": "512m"})
    assert r["stdout"] == "200 hi\nTrue []\n", r


def test_service_keeps_no_value_of_a_secret(service):
    r = run(service, "print(ask(), ask(method='TRACE'))", permission_mode="bypassPermissions")
    assert r["verdict"] == "ok", r
    texts = [json.dumps(r), service.log(), service.get("/metrics", unix=True).body.decode("utf-8", "replace"),
             service.get("/v1/runs", unix=True).body.decode(),
             service.get(f"/v1/runs/{r['id']}", unix=True).body.decode()]
    assert not any(SECRET in t or FILED in t for t in texts)
    assert files_with(service.state, SECRET, FILED) == []


@pytest.mark.release_only  # the sanitizer keeps a copy of the environment
def test_no_process_but_the_injector_has_the_secret(service):
    """Neither in its environment nor in its memory; the injector itself cannot be read by other users."""
    holders = []
    for pid in [service.pid, *(p.pid for p in descendants(service.pid))]:
        try:
            name = open(f"/proc/{pid}/comm").read().strip()
            assert SECRET.encode() not in open(f"/proc/{pid}/environ", "rb").read(), name
            with open(f"/proc/{pid}/mem", "rb", 0) as mem, open(f"/proc/{pid}/maps") as maps:
                for line in maps:
                    low, high = (int(x, 16) for x in line.split()[0].split("-"))
                    if "r" in line.split()[1] and "[v" not in line and high - low < 64 << 20:
                        mem.seek(low)
                        if SECRET.encode() in mem.read(high - low):
                            holders.append(name)
        except (FileNotFoundError, ProcessLookupError, OSError):
            continue
    assert set(holders) == {"belljar-inject"}, holders


@pytest.mark.parametrize("inject,status,words", [
    ({"host": OTHER}, 400, "is not in the network list"),
    ({"host": "web.example.org", "allow": "web.example.org"}, 403, "may not go to this host"),
    ({"secret": "NOT_THERE"}, 403, "does not exist here"),
    ({"secret": "OF_A_KEY"}, 403, "does not exist here"),
    ({"secret": "FILED"}, 403, "may not be in this header"),
    ({"secret": "ELSEWHERE"}, 403, "may not go to this host"),
    ({"host": HOST + ":80"}, 400, "plain HTTP"),
    ({"host": "*.example.org"}, 400, "is not the host of a secret"),
    ({"header": "Host"}, 400, "cannot be the header"),
    ({"header": "Content-Length"}, 400, "cannot be the header"),
    ({"header": "X: y\r\nZ"}, 400, "cannot be the header"),
    ({"prefix": "a\r\nX: "}, 400, "printable"),
    ({"secret": "../x"}, 400, "is not the name of a secret"),
])
def test_request_for_a_secret_beyond_its_grant_is_refused(service, inject, status, words):
    allow = [HOST, inject.pop("allow", HOST)]
    got, message = refusal(service, {**INJECT, **inject}, allow=allow)
    assert got == status and words in message, message


def test_host_without_a_verified_certificate_gets_no_secret(world, service):
    """A wrong name, and an authority that the operator does not trust."""
    for port, web in ((444, world.wrong_name), (445, world.stranger)):
        r = run(service, f"print(ask(port={port}))", f"{HOST}:{port}", inject=[{**INJECT, "host": f"{HOST}:{port}"}])
        assert outcomes(r) == ["bad_certificate"] and "200" not in r["stdout"], r
        assert web.all() == b"", web.seen


def test_plain_http_and_other_hosts_get_no_secret(world, service):
    before = len(world.web.seen)
    r = run(service, "import urllib.request as u\nprint(u.urlopen('http://api.example.org/').read())",
            f"{HOST}:80", f"{HOST}:443")
    assert r["stdout"] == "b'hi'\n" and world.plain.seen and SECRET.encode() not in world.plain.all(), r
    r = run(service, "ssl._create_default_https_context = ssl._create_unverified_context\n"
            "print(ask('other.example.org'))", f"{HOST}:443", f"{OTHER}:443")
    assert r["stdout"] == "200 hi\n", r
    assert SECRET.encode() not in b"".join(world.web.seen[before:])


def test_other_server_name_in_tls_is_reset(world, service):
    before = len(world.web.seen)
    request = b"GET / HTTP/1.1\r\nHost: other.example.org\r\n\r\n"
    r = run(service, f"print(raw({request!r}, 'other.example.org'))", HOST, OTHER)
    assert outcomes(r) == ["sni_mismatch"] and b"".join(world.web.seen[before:]) == b"", r


@pytest.mark.parametrize("request_bytes,status", [
    (b"GET / HTTP/1.1\r\nHost: other.example.org\r\n\r\n", "421"),
    (b"GET https://other.example.org/ HTTP/1.1\r\nHost: api.example.org\r\n\r\n", "400"),
    (b"GET / HTTP/1.1\r\nHost: api.example.org\r\nHost: other.example.org\r\n\r\n", "400"),
    (b"TRACE / HTTP/1.1\r\nHost: api.example.org\r\n\r\n", "501"),
    (b"CONNECT other.example.org:443 HTTP/1.1\r\nHost: api.example.org\r\n\r\n", "400"),
    (b"POST / HTTP/1.1\r\nHost: api.example.org\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
     "400"),
    (b"POST / HTTP/1.1\r\nHost: api.example.org\r\nContent-Length: 4\r\nContent-Length: 5\r\n\r\nabcd", "400"),
    (b"POST / HTTP/1.1\r\nHost: api.example.org\r\nTransfer-Encoding: xchunked\r\n\r\n", "400"),
    (b"GET / HTTP/1.1\nHost: api.example.org\n\n", "400"),
    (b"GET / HTTP/1.1\r\nHost : api.example.org\r\n\r\n", "400"),
    (b"GET / HTTP/1.1\r\nHost: api.example.org\r\nX: a\r\n b\r\n\r\n", "400"),
    (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "505"),
])
def test_ambiguous_request_is_refused_before_a_byte_leaves(world, service, request_bytes, status):
    before = len(world.web.seen)
    r = run(service, f"print(raw({request_bytes!r}))")
    assert r["stdout"].startswith(f"HTTP/1.1 {status} "), r
    assert outcomes(r) == ["bad_request"] and b"".join(world.web.seen[before:]) == b"", r


def test_guest_that_offers_only_http_2_is_told_so(world, service):
    r = run(service, "print(raw(b'x', alpn=('h2',)))")
    assert r["stdout"] == "SSLError\n" and outcomes(r) == ["tls_failed"], r


# ---- people ----

def test_approval_shows_host_header_and_name_of_a_secret(service):
    reply = service.post("/v1/runs", {"language": "python", "code": "1", "permission_mode": "default", "wait": False,
                                      "network": {"allow": [HOST], "inject": [INJECT]}}, unix=True)
    (row,) = [a for a in service.get("/v1/approvals", unix=True).json["approvals"]
              if a["run_id"] == reply.json["id"]]
    shown = service.get(f"/v1/approvals/{row['id']}", unix=True)
    text = json.dumps(shown.json)
    assert "api.example.org:443 Authorization: Bearer <API_KEY>" in text and SECRET not in text, text


def test_service_does_not_start_with_a_secret_that_others_can_read(world, tmp_path):
    file = tmp_path / "values"
    file.write_text("A=b\n")
    file.chmod(0o644)
    for options, words in (((f"network.secrets_file={file}", f"network.secrets=A={HOST}"), "chmod 600"),
                           ((f"network.secrets=A={HOST}",), "has no value")):
        s = Service("--set", f"network.max={HOST}", *[x for o in options for x in ("--set", o)], prefix=world.prefix())
        s.start(wait=False)
        assert eventually(lambda: s.popen.poll() is not None, 60), s.log()
        assert s.popen.returncode != 0 and words in s.log(), s.log()
        s.stop() if s.popen.poll() is None else None


def test_injector_ends_with_its_service(world):
    environ = {"BELLJAR_SECRET_A": "value-a", "SSL_CERT_FILE": str(world.authority.pem)}
    with Service("--set", f"network.max={HOST}", "--set", f"network.secrets=A={HOST}", prefix=world.prefix(),
                 environ=environ) as s:
        names = {p.comm: p.pid for p in descendants(s.pid)}
        assert "belljar-inject" in names, names
    assert not os.path.exists(f"/proc/{names['belljar-inject']}")




# ---- sessions ----

@pytest.mark.parametrize("language,code", [
    ("bash", "env -i curl -sS https://api.example.org/"),
    ("javascript", "process.stdout.write(await (await fetch('https://api.example.org/')).text())"),
])
def test_session_of_another_language_trusts_its_authority(world, service, language, code):
    """Also after a cell without the network, and in the next one."""
    near = Near(service)
    before = len(world.web.seen)
    session = create(near, language=language, network={"allow": [HOST], "inject": [INJECT]})
    for _ in range(2):
        r = execute(near, session, code)
        assert (r["verdict"], r["stdout"]) == ("ok", "hi"), r
    assert len(world.web.seen) > before and all(WIRE_FORM in seen for seen in world.web.seen[before:])
    end(near, session)


def test_session_has_its_secrets_from_its_start(world, service):
    """Its copies have them, too; nobody adds one later, and a lost authority is told."""
    near = Near(service)
    network = {"allow": [HOST, OTHER], "inject": [INJECT]}
    before = len(world.web.seen)
    session = create(near, network=network)
    assert look(near, session)["network"]["inject"][0]["secret"] == "API_KEY"
    execute(near, session, ASK)
    r = execute(near, session, "print(ask())")
    assert r["stdout"] == "200 hi\n" and WIRE_FORM in world.web.seen[before], r
    assert outcomes(r) in (["closed"], ["open"]), r  # the cell may be over before its connection is
    copy, = copies_of(near, session)
    r = execute(near, copy, "print(ask())")
    assert r["stdout"] == "200 hi\n" and WIRE_FORM in world.web.seen[-1], r
    for refused in ({**network, "inject": [{**INJECT, "header": "X-Api-Key", "secret": "FILED"}]},
                    {**network, "allow": [HOST, OTHER, "new.example.org"]}):
        reply = near.patch(place(copy), {"network": refused})
        assert reply.status == 400 and "at its start" in reply.error["message"], reply
    plain = create(near, network={"allow": [HOST]})
    reply = near.patch(place(plain), {"network": {"allow": [HOST], "inject": [INJECT]}})
    assert reply.status == 400 and "at its start" in reply.error["message"], reply
    reply = near.post(place(plain) + "/fork", {"network": {"allow": [HOST], "inject": [INJECT]}})
    assert reply.status == 403, reply
    assert near.patch(place(copy), {"network": {"allow": [HOST], "inject": [INJECT]}}).status == 200
    before = len(world.web.seen)
    r = execute(near, copy, "print(ask(), ask('other.example.org'))")
    assert r["stdout"] == "200 hi gaierror\n" and WIRE_FORM in world.web.seen[before], r
    os.kill(service.half("porter").pid, signal.SIGKILL)
    before = len(world.web.seen)
    assert eventually(lambda: "at its start alone" in json.dumps(execute(near, session, "print(ask())")), 30)
    assert b"".join(world.web.seen[before:]) == b""
    for s in (session, copy, plain):
        end(near, s)
    assert files_with(service.state, SECRET, FILED) == []
