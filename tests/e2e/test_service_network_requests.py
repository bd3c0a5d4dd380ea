"""The field "network" of requests: its forms and the operator's maximum. No connection is made."""

import json

import pytest

from harness import belljar, eventually
from service import ROOMY, Service

PROGRAM = {"language": "python", "code": "print('ran')"}


@pytest.fixture(scope="module")
def listed():
    with Service(*ROOMY, "--set", "network.max=@pypi, *.example.org:443, @mine", "--set",
                 "network.presets=mine=a.example.net:8443 b.example.net:8443") as s:
        yield s


@pytest.fixture(scope="module")
def unbounded():
    with Service(*ROOMY, "--set", "network.max=full") as s:
        yield s


@pytest.mark.parametrize("network, field, words", [
    (["pypi.org"], "network", "an object such as"),
    (True, "network", "an object such as"),
    ("open", "network", "none, full"),
    ({"hosts": ["pypi.org"]}, "network.hosts", "allow"),
    ({"allow": "pypi.org"}, "network.allow", "list"),
    ({"allow": ["*"]}, "network.allow[0]", "every host"),
    ({"allow": ["pypi.org", "*.com"]}, "network.allow[1]", "top-level"),
    ({"allow": ["pypi.org:0"]}, "network.allow[0]", "1 to 65535"),
    ({"allow": ["pypi.org:70000"]}, "network.allow[0]", "1 to 65535"),
    ({"allow": ["*.pypi.org:*"]}, "network.allow[0]", "name each port"),
    ({"udp": ["pypi.org:*"]}, "network.udp[0]", "name each port"),
    ({"allow": ["0x7f.1"]}, "network.allow[0]", "ends with a number"),
    ({"allow": ["2130706433"]}, "network.allow[0]", "ends with a number"),
    ({"allow": ["127.1"]}, "network.allow[0]", "ends with a number"),
    ({"allow": ["::ffff:169.254.169.254"]}, "network.allow[0]", "disguise"),
    ({"allow": ["pypi.org.."]}, "network.allow[0]", "each part"),
    ({"allow": ["@pipy"]}, "network.allow[0]", "@pypi"),
    ({"allow": ["https://pypi.org/simple"]}, "network.allow[0]", "URL"),
    ({"udp": ["ntp.example.org"]}, "network.udp[0]", "needs a port"),
    ({"udp": ["ntp.example.org:0"]}, "network.udp[0]", "1 to 65535"),
    ({"udp": "ntp.example.org:123"}, "network.udp", "list"),
    ({"allow": ["a.org:%d" % (i + 1) for i in range(10000)]}, "network.allow", "up to 256"),
], ids=lambda v: json.dumps(v)[:40])
def test_a_bad_network_list_is_refused_with_its_field(listed, network, field, words):
    """R4.2"""
    reply = listed.post("/v1/runs", {**PROGRAM, "network": network})
    assert reply.status in (400, 413), reply
    assert reply.json["error"]["field"] == field and words in reply.json["error"]["message"], reply


@pytest.mark.parametrize("network", [None, "none", {}, {"allow": []}], ids=str)
def test_an_empty_network_list_is_none(service, network):
    """R4.2: it is accepted where no network is given at all."""
    reply = service.post("/v1/runs", {**PROGRAM, "network": network})
    assert reply.status == 200 and reply.json["verdict"] == "ok", reply


@pytest.mark.parametrize("network", [{"allow": ["pypi.org"]}, {"allow": ["@pypi"]}, {"allow": ["*.a.org:53"]}], ids=str)
def test_a_service_opens_no_network_by_default(service, network):
    """R4.2"""
    for path, body in (("/v1/runs", {**PROGRAM, "network": network}),
                       ("/v1/batches", {"runs": [{**PROGRAM, "network": network}]})):
        reply = service.post(path, body)
        assert reply.status == 403 and b"network.max" in reply.body, (path, reply)


@pytest.mark.parametrize("network", [
    {"allow": ["pypi.org:80"]}, {"allow": ["evil.com:443"]}, {"allow": ["example.org:443"]},
    {"allow": ["a.example.org:444"]}, {"allow": ["pypi.org:*"]}, {"allow": ["udp:a.example.org:443"]},
    {"allow": ["*.org.example.org:80"]}, {"udp": ["a.example.org:443"]}, "full",
], ids=str)
def test_a_request_beyond_the_maximum_is_refused(listed, network):
    """R4.2"""
    reply = listed.post("/v1/runs", {**PROGRAM, "network": network})
    assert reply.status == 403 and b"network.max" in reply.body, reply


@pytest.mark.parametrize("host, kind", [
    ("169.254.169.254:80", "link-local"), ("10.0.0.1:80", "private"), ("127.0.0.1:80", "loopback"),
    ("[::1]:80", "loopback"), ("[64:ff9b::a9fe:a9fe]:80", "link-local"), ("[2002:7f00:1::]:80", "loopback"),
])
def test_an_address_that_no_run_reaches_is_refused_at_once(unbounded, host, kind):
    """R4.2"""
    reply = unbounded.post("/v1/runs", {**PROGRAM, "network": {"allow": [host]}})
    assert reply.status == 403 and kind.encode() in reply.body and b"network.private" in reply.body, reply


@pytest.mark.parametrize("setting, words", [
    ("network.max=*", "every host"), ("network.max=@nobody", "@pypi"), ("network.private=0.0.0.0/0", "too wide"),
    ("network.presets=mine", "NAME=HOST"), ("network.connections=0", "1 to 1024"),
])
def test_a_bad_network_setting_stops_the_start(tmp_path, setting, words):
    r = belljar("serve", "--state", str(tmp_path / "s"), "--set", setting)
    assert r.status != 0 and words.encode() in r.err and setting.split("=", maxsplit=1)[0].encode() in r.err, r


def test_a_key_has_a_maximum_of_its_own(start_service):
    """R4.2"""
    s = start_service(*ROOMY, "--set", "network.max=full", "--set", "network.keys=guest=none; ci=pypi.org:443")
    guest, ci = s.add_key("guest", "run"), s.add_key("ci", "run")
    assert eventually(lambda: s.post("/v1/runs", PROGRAM, key=ci).status == 200)
    for key, network in ((guest, {"allow": ["pypi.org:443"]}), (ci, {"allow": ["files.pythonhosted.org:443"]}),
                         (ci, {"allow": ["@pypi"]}), (ci, "full"), (guest, "full")):
        reply = s.post("/v1/runs", {**PROGRAM, "network": network}, key=key)
        assert reply.status == 403 and b"network.keys" in reply.body, (network, reply)
