"""`"network": "full"`: every public host, at every port (R4.2)."""

import subprocess

import pytest

from harness import ROOT, as_ordinary_user, belljar
from service import Service
from test_network import TRY
from world import PRIVATE, WORLD, World, _enter

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


@pytest.mark.parametrize("level", ["jar", "rootless"])
def test_command_has_the_full_network(world, level):
    r = belljar("run", "--local", "--network", "full", "--allow-private", PRIVATE, "-l", "python", "-",
                stdin=(TRY + f"print(attempt('web.example.org', 8088), attempt('{WORLD}'))").encode(),
                prefix=[*world.prefix(), *([] if level == "jar" else as_ordinary_user())])
    assert (r.status, r.out) == (0, b"another port hello\n"), r


def test_command_refuses_both_a_list_and_the_full_network(world):
    r = belljar("run", "--local", "--network", "full", "--allow-net", "web.example.org", "-l", "python", "-",
                stdin=b"1")
    assert r.status != 0 and b"--network full opens every host" in r.err, r
