"""A service that is named by its URL: every command reaches it in the same way, with its key, and none is used in its
place."""

import json
import os
import socket
import threading

import pytest

from harness import ROOT, Running, BELLJAR, belljar, eventually
from service import Service


@pytest.fixture(scope="module")
def s():
    with Service("--set", "pools.max=0", "--set", "doors.mcp=true") as service:
        service.keys = {name: service.add_key(name, scopes)
                        for name, scopes in (("all", "admin"), ("runs", "run"))}
        yield service


@pytest.fixture
def url(s):
    return f"http://127.0.0.1:{s.port}"


@pytest.fixture
def there(s, url):
    """`belljar ARGS` with a URL and a key in its environment, and no state directory of its own."""
    def command(*argv, key="all", stdin=None, **environ):
        clean = {k: v for k, v in os.environ.items() if not k.startswith("BELLJAR_")}
        return belljar(*argv, stdin=stdin, environ={**clean, "BELLJAR_STATE": "/nonexistent", "BELLJAR_URL": url,
                                                    "BELLJAR_API_KEY": s.keys.get(key, key), **environ})
    return command


def good(result):
    assert result.status == 0, result
    return result.out.decode()


def test_every_command_reaches_a_service_by_its_url(s, there, public_path):
    """R8.2"""
    ran = there("run", "--json", "-l", "python", "-", "--out", f"made:{public_path}/made",
                stdin=b"open('made', 'w').write('x' * 3)\nprint(6 * 7)")
    assert json.loads(good(ran))["stdout"] == "42\n" and (public_path / "made").read_text() == "xxx"
    mine = json.loads(ran.out)["id"]
    assert s.get(f"/v1/runs/{mine}", key=s.keys["all"]).json["verdict"] == "ok"
    assert good(there("-c", "print(input())", stdin=b"typed\n")) == "typed\n"
    assert mine in good(there("history"))
    assert mine in [r["id"] for r in json.loads(good(there("history", "--json", "--language", "python", "-n", "9")))]
    shown = good(there("history", "show", mine))
    assert "print(6 * 7)" in shown and "stdout: 3 bytes\n42\n" in shown
    assert "runs" in good(there("top", "--once"))
    assert good(there("approvals", "ls")) == "" and good(there("template", "ls")) == ""
    asked = s.post("/v1/runs", {"language": "python", "code": "print(1)", "wait": False, "permission_mode": "default"},
                   key=s.keys["all"]).json
    assert asked["id"] and asked["approval"]["id"] in good(there("approvals", "ls"))
    assert there("approvals", "reject", asked["approval"]["id"]).status == 0
    # A session, whose process without rights gets the connection and the key from main.
    assert good(there("repl", "python", stdin=b"x = 20\nprint(x + 1)\n")) == "21\n"
    assert good(there("session", "ls")) == ""
    tools = good(there("mcp", stdin=b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}\n'))
    assert '"run_code"' in tools


def test_key_comes_from_a_file_or_a_variable(s, there, url, public_path):
    """R8.2"""
    file = public_path / "key"
    file.write_text(s.keys["runs"] + "\n")
    mine = ["--service", url, "--key-file", str(file)]
    ran = there("run", *mine, "--json", "-c", "print(1)", BELLJAR_URL="http://127.0.0.1:1", BELLJAR_API_KEY="wrong")
    assert json.loads(good(ran))["verdict"] == "ok"
    listed = json.loads(good(there("history", "--json", *mine)))
    assert listed and {r["key"] for r in listed} == {"runs"}
    for argv, said in ((["--key-file", "/nonexistent"], "/nonexistent"),
                       (["--key-file", "/dev/null"], "1 to 256 visible characters")):
        refused = there("history", "--service", url, *argv)
        assert refused.status != 0 and refused.out == b"" and said in refused.message, refused


def test_refusals_of_a_url_are_one_sentence_with_the_next_step(there, url):
    """R8.2"""
    with socket.create_server(("127.0.0.1", 0)) as closed:
        dead = f"http://127.0.0.1:{closed.getsockname()[1]}"
    for command in (["run", "-c", "print(1)"], ["history"], ["approvals", "ls"], ["session", "ls"], ["repl"]):
        def refused(said, *argv, key="all", status=125, command=command):
            result = there(*command, *argv, key=key, stdin=b"")
            assert result.status == status and result.out == b"", result
            text = result.err.decode()
            assert said in text and text.startswith("belljar: ") and text.count("\n") == 1, result
        refused("'belljar serve' starts a service there", "--service", dead)
        refused("6000 HOST)", "--service", "https://example.org")
        refused("has a path", "--service", url + "/v1")
        refused("is not an address", "--service", "localhost:6000")
        refused("does not know this key: 'belljar keys add", key="blj_wrong", status=125 if command != ["repl"] else 1)


def test_url_is_never_replaced_by_another_service(s, there, url):
    """R8.2"""
    beside = {"BELLJAR_STATE": str(s.state)}  # a service of this machine, which would answer
    for dead in ({"BELLJAR_URL": "http://127.0.0.1:1"},):
        result = there("run", "-c", "print('here')", **dead, **beside)
        assert result.status == 125 and result.out == b"" and "127.0.0.1:1" in result.message, result
    # The caller who says so gets this machine.
    here = {"BELLJAR_URL": "http://127.0.0.1:1", "BELLJAR_API_KEY": "wrong"}
    assert good(there("run", "--local", "-c", "print('here')", **here)) == "here\n"
    assert good(there("session", "ls", "--state", str(s.state), **here)) == ""
    for argv, said in ((["--local"], "--local"), (["--isolation", "process"], "--isolation"),
                       (["--strict"], "--strict"), (["--state", str(s.state)], "two services")):
        result = there("run", "--service", url, *argv, "-c", "print(1)")
        assert result.status == 64 and result.out == b"" and said in result.message, result
    assert there("history", "--state", str(s.state), "--key-file", "/dev/null").status == 64
    with_latin = there("run", "-c", "print(1)", os.fsdecode(b"\xff"))
    assert with_latin.status == 125 and "not UTF-8; --local" in with_latin.message, with_latin


class Impostor:
    """Listens where a service is expected: keeps the heads of requests, and answers with `reply`, or never."""

    def __init__(self, reply=None):
        self.reply, self.heads, self.alive = reply, [], []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        try:
            while True:
                c, _ = self.listener.accept()
                self.alive.append(c)
                threading.Thread(target=self.serve, args=(c,), daemon=True).start()
        except OSError:
            pass

    def serve(self, c):
        self.heads.append(c.recv(65536))
        if self.reply:
            c.sendall(self.reply)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listener.close()
        for c in self.alive:
            c.close()


def test_answer_that_is_not_of_a_service_is_named(there):
    """R8.2"""
    page = b"HTTP/1.1 404 Not Found\r\nContent-Length: 6\r\n\r\n<html>"
    for reply, said in ((page, "as no service of belljar does"), (b"SSH-2.0-x\r\n", "not HTTP")):
        with Impostor(reply) as other:
            for command in (["run", "-c", "print(1)"], ["history"]):
                result = there(*command, "--service", other.url)
                assert result.status == 125 and said in result.message and result.out == b"", result


def test_key_goes_to_a_service_with_a_url_alone(s, there):
    """A key in the environment is not for the service of the machine."""
    with Impostor() as other, Running([BELLJAR, "history", "--service", other.url],
                                      environ={**os.environ, "BELLJAR_API_KEY": "blj_mine"}):
        assert eventually(lambda: other.heads, 20)
        assert b"Authorization: Bearer blj_mine\r\n" in other.heads[0]
    assert there("session", "ls", "--state", str(s.state), key="wrong").status == 0


@pytest.mark.skipif(not ROOT, reason="only root has rights to give up")
def test_answers_of_a_url_are_read_without_the_rights_of_root():
    with Impostor() as other:
        for command in (["history"], ["session", "ls"], ["approvals", "ls"]):
            n = len(other.heads)
            with Running([BELLJAR, *command, "--service", other.url]) as waiting:
                assert eventually(lambda n=n: len(other.heads) > n, 20)
                status = open(f"/proc/{waiting.pid}/status", encoding="utf-8").read()
                uids = next(line for line in status.splitlines() if line.startswith("Uid:")).split()[1:]
                assert "0" not in uids and len(set(uids)) == 1, (command, uids)
