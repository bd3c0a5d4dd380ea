"""The connections of a run in its result, its events, the metrics, the audit log and the diagnosis (R4.2)."""

import json
import sqlite3

import pytest

from harness import ROOT, belljar, eventually
from service import Service
from world import PRIVATE, WORLD, World

pytestmark = pytest.mark.skipif(not ROOT, reason="it takes root to make the namespaces of the test")

TALK = """
import socket
def talk(host, port=80):
    with socket.create_connection((host, port), 30) as s:
        s.sendall(b"12345")
        s.shutdown(socket.SHUT_WR)
        while s.recv(65536):
            pass
"""


@pytest.fixture(scope="module")
def world():
    with World() as w:
        w.say(80, b"hello world")
        w.name("web.example.org", WORLD)
        w.name("private.example.org", "10.0.0.1")
        yield w


@pytest.fixture(scope="module")
def service(world):
    with Service("--set", "network.max=full", "--set", f"network.private={PRIVATE}", "--set", "network.bytes_in=1k",
                 "--set", "network.connections_total=4", "--set", "network.presets=mine=web.example.org:80",
                 "--set", "pools.max=2", prefix=world.prefix()) as s:
        yield s


def run(service, code, *allow, **fields):
    return service.run(TALK + code, unix=True, network={"allow": list(allow)}, **fields)


def test_result_has_each_connection(service):
    r = run(service, "talk('web.example.org')", "@mine")
    network = r["network"]
    assert (r["verdict"], r["limits_hit"]) == ("ok", []), r
    assert (network["mode"], network["connections"], network["denied"], network["complete"]) == ("list", 1, 0, True), r
    (entry,) = network["log"]
    assert (entry["host"], entry["port"], entry["address"], entry["outcome"], entry["protocol"]) == (
        "web.example.org", 80, WORLD, "closed", "tcp"), entry
    assert (entry["bytes_in"], entry["bytes_out"]) == (11, 5) == (network["bytes_in"], network["bytes_out"]), network
    assert entry["started_at"].endswith("Z") and entry["duration_ms"] > 0, entry
    stored = service.get(f"/v1/runs/{r['id']}", unix=True).json
    assert stored["network"] == network, stored


def test_made_up_names_do_not_hide_a_connection(service):
    """Questions by hand: a library would ask each of them twice."""
    code = """
import struct
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
    s.connect(('127.0.0.1', 53))
    for i in range(4500):
        name = b'n%d' % i
        s.send(struct.pack('>6H', i, 256, 1, 0, 0, 0) + bytes([len(name)]) + name + bytes([0, 0, 1, 0, 1]))
        s.recv(512)
talk('web.example.org')
"""
    network = run(service, code, "@mine")["network"]
    assert (network["connections"], network["bytes_in"], network["bytes_out"]) == (1, 11, 5), network
    assert network["omitted"] >= 3400, network


def test_result_without_a_list_has_no_network(service):
    assert service.run("print(1)", unix=True)["network"] is None


def test_denied_name_is_in_the_log_and_in_the_diagnosis(service):
    r = run(service, "talk('api.foo.com', 443)", "web.example.org:80")
    (entry,) = r["network"]["log"]
    assert (entry["host"], entry["outcome"], entry["address"]) == ("api.foo.com", "denied_name", None), r
    assert r["network"]["denied"] >= 1 and r["network"]["connections"] == 0, r
    d = r["diagnosis"]
    assert d["category"] == "network" and d["sandbox"] is True, d
    assert d["suggestions"][0]["text"].startswith(
        "'api.foo.com' is not in this run's network list; allowed are web.example.org:80. Add --allow-net api.foo.com "
    ), d


@pytest.mark.parametrize("host, port, outcome, words", [
    ("web.example.org", 81, "refused", "web.example.org:81 refused the connection"),
    ("private.example.org", 80, "blocked_address", "has the address 10.0.0.1, which no run reaches"),
    ("missing.example.org", 80, "no_name", "is in the network list, but has no address"),
])
def test_failed_connection_is_in_the_log_and_in_the_diagnosis(service, host, port, outcome, words):
    r = run(service, f"talk('{host}', {port})", f"{host}:{port}")
    (entry,) = r["network"]["log"]
    assert (entry["host"], entry["outcome"]) == (host, outcome), r
    assert words in r["diagnosis"]["suggestions"][0]["text"], r


@pytest.mark.parametrize("language, code, words", [
    ("bash", "curl -sS http://web.example.org:81/", "'web.example.org:81' is not in this run's network list; allowed "
     "are web.example.org:80. Add --allow-net web.example.org:81 "),
    ("bash", "curl -sS http://8.8.8.8/", "Add --allow-net 8.8.8.8:80 "),
    ("javascript", "require('net').connect(443, '8.8.8.8')", "Add --allow-net 8.8.8.8:443 "),
    ("python", TALK + "talk('web.example.org', 81)", "not in the network list: allowed are web.example.org:80"),
])
def test_port_or_address_that_the_kernel_refuses_is_in_the_diagnosis(service, language, code, words):
    """No socket of ours sees it: the words of the error name it, if anything does."""
    r = service.run(code, language=language, unix=True, network={"allow": ["web.example.org:80"]})
    assert r["diagnosis"]["category"] == "network" and words in r["diagnosis"]["suggestions"][0]["text"], r


def test_connections_are_events_and_can_be_read_again(service):
    reply = service.post("/v1/runs", {"language": "python", "code": TALK + "talk('web.example.org')", "stream": True,
                                      "network": {"allow": ["web.example.org:80"]}}, unix=True)
    events = [json.loads(line) for line in reply.body.splitlines()]
    seen = [e["connection"] for e in events if e["event"] == "network"]
    assert seen[-1]["outcome"] == "closed" and seen[-1]["host"] == "web.example.org", events
    assert all(a["seq"] < b["seq"] for a, b in zip(events, events[1:]) if "seq" in a and "seq" in b), events
    result = events[-1]["result"]
    assert result["network"]["log"] == [seen[-1]], events
    again = service.get(f"/v1/runs/{result['id']}/events", unix=True).body.splitlines()
    assert [e["connection"] for e in map(json.loads, again) if e["event"] == "network"] == seen, again


def test_cap_of_the_network_is_in_limits_hit(world, service):
    world.say(82, b"x" * 5000)
    r = run(service, "talk('web.example.org', 82)", "web.example.org:82")
    assert r["limits_hit"] == ["network_limit"] and r["network"]["limits_hit"] == ["bytes_in"], r
    r = run(service, "for _ in range(5):\n    talk('web.example.org')", "web.example.org:80")
    assert r["limits_hit"] == ["network_limit"] and r["network"]["limits_hit"] == ["connections_total"], r
    assert r["verdict"] == "runtime_error", r
    assert "network.connections_total" in r["diagnosis"]["suggestions"][0]["text"], r


def test_metrics_count_connections(service):
    def count(outcome):
        text = service.get("/metrics", unix=True).body.decode()
        return int(text.split(f'belljar_network_connections_total{{outcome="{outcome}"}} ')[1].split()[0])

    before = count("closed"), count("denied_name")
    run(service, "talk('web.example.org')\ntalk('other.example.org')", "web.example.org:80")
    assert count("closed") == before[0] + 1 and count("denied_name") > before[1]


def test_audit_has_a_digest_of_the_log(service):
    r = run(service, "talk('web.example.org')", "web.example.org:80")

    def details():
        with sqlite3.connect(f"file:{service.state}/data/belljar.db?mode=ro", uri=True) as db:
            return db.execute("SELECT detail FROM audit WHERE kind = 'run.finished' AND subject = ?",
                              (r["id"],)).fetchall()

    assert eventually(details)
    network = json.loads(details()[0][0])["network"]
    assert network["connections"] == 1 and network["bytes_in"] == 11 and len(network["log"]) == 64, network


def test_approver_sees_each_host_and_no_thread_rule_opens_it(service):
    """A rule that allows a thread does not open a network."""
    thread = "t-network"
    body = {"language": "python", "code": "print(1)", "permission_mode": "default", "thread_id": thread, "wait": False}
    wide = {"allow": ["web.example.org:80", "*.github.io:443"]}
    first = service.post("/v1/runs", {**body, "network": wide}, unix=True)
    assert first.status == 202, first
    pending = service.get("/v1/approvals?decision=pending", unix=True).json
    approvals = pending["approvals"] if isinstance(pending, dict) else pending
    (a,) = [x for x in approvals if x["run_id"] == first.json["id"]]
    assert a["input"]["network"] == wide, a
    shown = {r["excerpt"]: r["why"] for r in a["risks"] if r["kind"] == "network"}
    assert set(shown) == {"web.example.org:80", "*.github.io:443"} and "strangers" in shown["*.github.io:443"], a
    decision = {"decision": "approve", "remember": "session"}
    assert service.post(f"/v1/approvals/{a['id']}", decision, unix=True).status == 200
    plain = service.post("/v1/runs", {**body, "wait": True}, unix=True)
    assert plain.status == 200 and plain.json["verdict"] == "ok", plain
    again = service.post("/v1/runs", {**body, "network": {"allow": ["evil.example.com:443"]}}, unix=True)
    state = service.get(f"/v1/runs/{again.json['id']}", unix=True).json["state"]
    assert (again.status, state) == (202, "waiting"), again
    service.request("DELETE", f"/v1/runs/{again.json['id']}", unix=True)


def test_deny_rule_looks_at_the_network_list(service):
    text = "forbidden.example.org"
    rule = service.post("/v1/rules", {"action": "deny", "match": "contains", "text": text}, unix=True)
    assert rule.status == 201, rule
    r = run(service, "print(1)", "forbidden.example.org:80")
    service.request("DELETE", f"/v1/rules/{rule.json['id']}", unix=True)
    assert r["verdict"] == "rejected" and rule.json["id"] in r["error"], r


def test_command_alone_shows_its_connections(world):
    code = TALK + "talk('web.example.org')\ntalk('api.foo.com')"
    r = belljar("run", "--local", "--json", "-l", "python", "--allow-net", "web.example.org:80", "--allow-private",
                PRIVATE, "-", stdin=code.encode(), prefix=world.prefix())
    assert [(e["host"], e["outcome"]) for e in r.json["network"]["log"]] == [
        ("web.example.org", "closed"), ("api.foo.com", "denied_name")], r
    assert "--allow-net api.foo.com" in r.json["diagnosis"]["suggestions"][0]["text"], r


def test_a_run_with_a_network_is_not_tried_again_unless_asked(service):
    code = "talk('web.example.org')\nd = {'price': 1}\nprint(d['prize'])\n"
    fixes = run(service, code, "web.example.org:80", fixes="try")["fixes"]
    assert fixes["candidates"] == [] and "try_with_network" in fixes["reason"], fixes
    asked = run(service, code, "web.example.org:80", fixes="try_with_network")["fixes"]
    assert [c["outcome"] for c in asked["candidates"]] == ["cures"], asked
