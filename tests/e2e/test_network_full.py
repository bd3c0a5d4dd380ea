"""`"network": "full"`: every public host, at every port; and every port of one host, `HOST:*` (R4.2)."""

import subprocess

import pytest

from harness import ROOT, as_ordinary_user, belljar
from service import Service
from sessions import create, end, execute, place
from test_network import TRY
from test_network_sessions import Near
from world import NEAR, PRIVATE, WORLD, World, _enter

pytestmark = pytest.mark.skipif(not ROOT, reason="it takes root to make the namespaces of the test")

NEAR6, WORLD6 = "2001:db8:1::1", "2001:db8:1::2"


@pytest.fixture(scope="module")
def world():
    with World() as w:
        for pid, address, device in ((w.near, NEAR6, "near"), (w.far, WORLD6, "far")):
            subprocess.run(_enter(pid, "ip", "addr", "add", f"{address}/64", "dev", device, "nodad"), check=True)
        w.say(80, b"hello")
        w.say(8088, b"another port")
        w.say(80, b"hello6", WORLD6)
        w.echo(7)
        w.name("web.example.org", WORLD)
        w.name("other.example.net", WORLD)
        w.name("six.example.org", WORLD6)
        yield w


@pytest.fixture(scope="module")
def service(world):
    with Service("--set", "network.max=full", "--set", f"network.private={PRIVATE},2001:db8:1::/64", "--set",
                 "pools.max=2", prefix=world.prefix()) as s:
        yield s


def run(service, code, network="full", **fields):
    r = service.run(TRY + code, unix=True, network=network, **fields)
    assert r["verdict"] == "ok", r
    return r


def test_full_network_reaches_every_name_address_and_port(service):
    code = f"for host, port in (('web.example.org', 80), ('other.example.net', 8088), ('{WORLD}', 80), " \
           f"('{WORLD}', 8088), ('{WORLD6}', 80)): print(attempt(host, port))"
    r = run(service, code)
    assert r["stdout"].splitlines() == ["hello", "another port", "hello", "another port", "hello6"], r
    assert r["network"]["mode"] == "full" and r["network"]["connections"] == 5, r
    seen = [(e["host"], e["port"], e["address"], e["outcome"]) for e in r["network"]["log"]]
    assert seen[1] == ("other.example.net", 8088, WORLD, "closed"), seen
    assert seen[4] == (None, 80, WORLD6, "closed"), seen


def test_program_with_the_full_network_has_its_own_servers(service):
    code = """
import threading
for family, host in ((socket.AF_INET, '0.0.0.0'), (socket.AF_INET6, '::')):
    s = socket.socket(family); s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if family == socket.AF_INET6: s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
    s.bind((host, 8088)); s.listen()
    def serve(s=s):
        c, _ = s.accept(); c.sendall(b'mine'); c.close()
    threading.Thread(target=serve).start()
print(attempt('127.0.0.1', 8088), attempt('::1', 8088), attempt('web.example.org', 8088))
print(attempt('127.0.0.1', 81), attempt('::1', 81), attempt('127.0.0.1', 1), attempt('::1', 1))
"""
    assert run(service, code)["stdout"].splitlines() == [
        "mine mine another port", " ".join(["ConnectionRefusedError 111"] * 4)]


def test_remote_that_refuses_resets_and_the_log_tells(service):
    r = run(service, "print(attempt('web.example.org', 81))")
    assert r["stdout"] == "ConnectionResetError 104\n" and r["network"]["log"][0]["outcome"] == "refused", r


def test_full_network_needs_the_maximum_of_the_service(world):
    with Service("--set", "network.max=*.example.org:80", prefix=world.prefix()) as s:
        reply = s.post("/v1/runs", {"language": "python", "code": "1", "network": "full"}, unix=True)
        assert reply.status == 403 and "'full' is not within the maximum" in reply.error["message"], reply


def test_approver_sees_that_the_network_is_full(service):
    body = {"language": "python", "code": "print(1)", "permission_mode": "default", "wait": False, "network": "full"}
    first = service.post("/v1/runs", body, unix=True)
    assert first.status == 202, first
    pending = service.get("/v1/approvals?decision=pending", unix=True).json
    approvals = pending["approvals"] if isinstance(pending, dict) else pending
    (a,) = [x for x in approvals if x["run_id"] == first.json["id"]]
    service.request("DELETE", f"/v1/runs/{first.json['id']}", unix=True)
    assert a["input"]["network"] == "full", a
    assert [r["excerpt"] for r in a["risks"] if r["kind"] == "network"] == ["full"], a


def test_deny_rule_for_a_host_denies_the_full_network(service):
    deny = {"action": "deny", "match": "contains", "text": "forbidden.example.org"}
    rule = service.post("/v1/rules", deny, unix=True)
    assert rule.status == 201, rule
    r = service.run("print(1)", unix=True, network="full")
    service.request("DELETE", f"/v1/rules/{rule.json['id']}", unix=True)
    assert r["verdict"] == "rejected" and rule.json["id"] in r["error"], r


def test_wildcard_leaves_the_own_addresses_of_the_program_alone(service):
    """Its socket is at no address of the guest: another server has that port, or nobody."""
    code = """
print(attempt('127.0.0.1', 8088))
s = socket.socket(); s.bind(('127.0.0.1', 8088)); s.listen()
print(attempt('web.example.org', 8088), attempt('web.example.org', 8089))
"""
    assert run(service, code, {"allow": ["*.example.org:8088"]})["stdout"].splitlines() == [
        "ConnectionRefusedError 111", "another port ConnectionRefusedError 111"]


# ---- every port of one host ----

def test_every_port_of_a_listed_host_is_open_and_no_other(service):
    """By name, by address, and by a name that only IPv6 has."""
    code = f"""
for host, port in (('web.example.org', 80), ('web.example.org', 8088), ('web.example.org', 81), ('{WORLD6}', 80),
                   ('six.example.org', 80), ('other.example.net', 80), ('other.example.net', 81), ('{WORLD}', 80),
                   ('gone.example.net', 80)):
    print(host, port, attempt(host, port))
"""
    r = run(service, code, {"allow": ["web.example.org:*", f"[{WORLD6}]:*", "six.example.org:*",
                                      "other.example.net:80"]})
    assert r["stdout"].splitlines() == [
        "web.example.org 80 hello", "web.example.org 8088 another port",
        "web.example.org 81 ConnectionResetError 104", f"{WORLD6} 80 hello6", "six.example.org 80 hello6",
        "other.example.net 80 hello", "other.example.net 81 ConnectionRefusedError 111", f"{WORLD} 80 OSError 101",
        "gone.example.net 80 gaierror -2"], r
    seen = {(e["host"], e["port"], e["address"], e["outcome"]) for e in r["network"]["log"]}
    assert {("web.example.org", 8088, WORLD, "closed"), ("web.example.org", 81, WORLD, "refused"),
            (None, 80, WORLD6, "closed"), ("six.example.org", 80, WORLD6, "closed"),
            ("gone.example.net", None, None, "denied_name")} <= seen, seen


def test_every_port_of_a_host_that_is_the_machine_stays_closed(world, service):
    world.say(8088, b"a secret of the machine", NEAR, near=True)
    world.name("near.example.org", NEAR)
    world.name("turns.example.org", [WORLD], ["127.0.0.1"])
    code = "print(attempt('near.example.org', 8088), attempt('near.example.org', 22))\n" \
           "print(attempt('turns.example.org', 8088), attempt('turns.example.org', 8088))"
    r = run(service, code, {"allow": ["near.example.org:*", "turns.example.org:*"]})
    assert r["stdout"].splitlines() == ["ConnectionResetError 104 ConnectionResetError 104",
                                        "another port ConnectionResetError 104"], r


def test_program_has_its_own_servers_beside_every_port_of_a_host(service):
    code = """
import threading
s = socket.socket(); s.bind(('0.0.0.0', 8088)); s.listen()
def serve():
    c, _ = s.accept(); c.sendall(b'mine'); c.close()
threading.Thread(target=serve).start()
print(attempt('127.0.0.1', 8088), attempt('web.example.org', 8088), attempt('127.0.0.1', 81))
"""
    r = run(service, code, {"allow": ["web.example.org:*", "*.example.net:80"]})
    assert r["stdout"] == "mine another port ConnectionRefusedError 111\n", r


def test_session_with_some_ports_in_place_of_all_refuses_the_rest(service):
    near = Near(service)
    session = create(near, network={"allow": ["web.example.org:*"]})
    hold = TRY + "held = socket.create_connection(('web.example.org', 7)); held.sendall(b'x'); print(held.recv(1))"
    assert execute(near, session, hold)["stdout"] == "b'x'\n"
    reply = near.patch(place(session), {"network": {"allow": ["web.example.org:80"]}})
    assert reply.status == 200 and reply.json["network"] == {"allow": ["web.example.org:80"]}, reply
    code = "print(attempt('web.example.org'), attempt('web.example.org', 7))\n" \
           "try: print(held.recv(1))\nexcept OSError as e: print(e.errno)"
    assert execute(near, session, code)["stdout"] == "hello ConnectionRefusedError 111\n104\n"
    end(near, session)


def test_approver_sees_that_every_port_is_open(service):
    body = {"language": "python", "code": "print(1)", "permission_mode": "default", "wait": False,
            "network": {"allow": ["web.example.org:*"]}}
    first = service.post("/v1/runs", body, unix=True)
    rows = service.get("/v1/approvals?decision=pending", unix=True).json["approvals"]
    (a,) = [x for x in rows if x["run_id"] == first.json["id"]]
    service.request("DELETE", f"/v1/runs/{first.json['id']}", unix=True)
    risks = {r["excerpt"]: r["why"] for r in a["risks"] if r["kind"] == "network"}
    assert list(risks) == ["web.example.org:*"] and "every port" in risks["web.example.org:*"], a


@pytest.mark.parametrize("level", ["jar", "rootless"])
def test_command_has_the_full_network(world, level):
    r = belljar("run", "--local", "--network", "full", "--allow-private", PRIVATE, "-l", "python", "-",
                stdin=(TRY + f"print(attempt('web.example.org', 8088), attempt('{WORLD}'))").encode(),
                prefix=[*world.prefix(), *([] if level == "jar" else as_ordinary_user())])
    assert (r.status, r.out) == (0, b"another port hello\n"), r


@pytest.mark.parametrize("level", ["jar", "rootless"])
def test_command_opens_every_port_of_a_host(world, level):
    r = belljar("run", "--local", "--allow-net", "web.example.org:*", "--allow-private", PRIVATE, "-l", "python", "-",
                stdin=(TRY + "print(attempt('web.example.org', 8088), attempt('other.example.net'))").encode(),
                prefix=[*world.prefix(), *([] if level == "jar" else as_ordinary_user())])
    assert (r.status, r.out) == (0, b"another port gaierror -2\n"), r


def test_command_refuses_both_a_list_and_the_full_network(world):
    r = belljar("run", "--local", "--network", "full", "--allow-net", "web.example.org", "-l", "python", "-",
                stdin=b"1")
    assert r.status != 0 and b"--network full opens every host" in r.err, r
