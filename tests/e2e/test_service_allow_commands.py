"""Lists of commands, as clients of the service and the command line give them."""

from pathlib import Path

import pytest

from harness import BELLJAR


@pytest.fixture(autouse=True)
def _sealed(sealed, here):
    if "landlock" not in here.layers:
        pytest.skip("a list of commands needs Landlock, which this kernel lacks")


def refused(service, **fields):
    reply = service.post("/v1/runs", {"language": "bash", "code": "ls", **fields})
    assert reply.status == 400, reply
    assert reply.error["field"] == "allow_commands", reply
    return reply.error["message"]


def test_service_holds_a_shell_to_the_list(service):
    r = service.run("ls /etc/hostname; cat /etc/hostname", language="bash", allow_commands=["ls", "find"])
    assert r["stdout"] == "/etc/hostname\n" and r["exit_code"] == 126, r
    assert "/usr/bin/cat: Permission denied" in r["stderr"] and r["verdict"] == "runtime_error", r


def test_no_list_and_an_empty_list_are_not_the_same(service):
    assert service.run("cat /etc/hostname", language="bash")["stdout"] == "belljar\n"
    assert service.run("cat /etc/hostname", language="bash", allow_commands=None)["stdout"] == "belljar\n"
    r = service.run("echo here; cat /etc/hostname", language="bash", allow_commands=[])
    assert r["stdout"] == "here\n" and r["exit_code"] == 126, r


def test_run_with_a_list_never_starts_warm(warm_service):
    assert warm_service.run("ls /etc/hostname", language="bash")["start"] in ("warm", "hatched")
    r = warm_service.run("ls /etc/hostname; cat /etc/hostname", language="bash", allow_commands=["ls"])
    assert r["start"] == "cold" and r["stdout"] == "/etc/hostname\n", r
    r = warm_service.run("cat /etc/hostname", language="bash")  # and the next is as free as ever
    assert r["stdout"] == "belljar\n", r


def test_list_that_cannot_be_is_refused_by_name(service):
    assert "'no-such-thing'" in refused(service, allow_commands=["ls", "no-such-thing"])
    assert "'ls -l'" in refused(service, allow_commands=["ls -l"])
    assert "'/bin/ls'" in refused(service, allow_commands=["/bin/ls"])
    assert "list 'sh' too" in refused(service, allow_commands=["zcat"])
    assert "read-only" in refused(service, allow_commands=["ls"], read_only=False)
    message = refused(service, language="python", code="print(1)", allow_commands=["ls"])
    assert "is only for shells (bash" in message and "'python'" in message
    reply = service.post("/v1/runs", {"language": "bash", "code": "ls", "allow_commands": ["ls"] * 201})
    assert reply.status == 400 and "allow_commands" in reply.error["field"], reply
    reply = service.post("/v1/runs", {"language": "bash", "code": "ls", "allow_commands": "ls"})
    assert reply.status == 400 and "allow_commands" in reply.error["field"], reply


def test_two_hundred_commands_are_accepted(service):
    names = [p.name for p in sorted(Path("/usr/bin").iterdir()) if p.is_file() and p.open("rb").read(4) == b"\x7fELF"]
    r = service.run("ls /etc/hostname", language="bash", allow_commands=["ls", *names[:199]])
    assert r["stdout"] == "/etc/hostname\n", r


def test_list_by_the_command_line_through_the_service(service, public_path):
    script = public_path / "main.sh"
    script.write_text("ls /etc/hostname; cat /etc/hostname")
    for where in ((), ("--local",)):
        r = service.cli("run", *where, "--allow-command", "ls", "--allow-command", "find", str(script))
        assert (r.status, r.out) == (126, b"/etc/hostname\n"), r
        assert b"/usr/bin/cat: Permission denied" in r.err, r
    r = service.cli("run", "--allow-command", "nosuch", str(script))
    assert r.status == 125 and "there is no command 'nosuch'" in r.message, (BELLJAR, r)


def test_batch_and_streams_hold_the_list_as_well(service):
    events = service.all_events(body={"language": "bash", "code": "cat /etc/hostname; ls /etc/hostname",
                                      "allow_commands": ["ls"],
                                      "stream": True})
    out = "".join(e.get("data", "") for e in events if e.get("type") in ("stdout", "output"))
    assert "belljar\n" not in out, events
    runs = [{"language": "bash", "code": "cat /etc/hostname", "allow_commands": list} for list in (["ls"], ["cat"])]
    reply = service.post("/v1/batches", {"runs": runs})
    assert reply.status == 200, reply
    assert [r["exit_code"] for r in reply.json["results"]] == [126, 0], reply
