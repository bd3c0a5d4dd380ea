"""The commands beside `run` and `serve`, as a person types them."""

import contextlib
import json
import re
import socket

import pytest

from harness import belljar
from service import Service


@pytest.fixture(scope="module")
def service():
    with Service() as s:
        yield s


@pytest.fixture(scope="module")
def keyed():
    """A service that has had a key, and so is never open again."""
    with Service() as s:
        yield s


def test_keys_are_in_force_when_the_command_returns(keyed):
    keyed.add_key("first", "admin")
    for i in range(15):
        key = keyed.add_key(f"k{i}")
        assert keyed.get("/v1/stats", key=key).status == 200, i
        removed = keyed.cli("keys", "remove", f"k{i}")
        assert (removed.status, removed.out, removed.err) == (0, b"", b"")
        assert keyed.get("/v1/stats", key=key).status == 401, i
    assert keyed.cli("keys", "remove", "first").status == 0


def test_keys_by_a_service_say_the_same_as_without_one(keyed):
    def say(*args):
        r = keyed.cli("keys", *args)
        return r.status, r.message, len(r.out)

    def everything():
        return [say("add", "a", "--scopes", "read,run", "--max-runs", "3"), say("add", "a", "--scopes", "run"),
                say("add", "a/b", "--scopes", "run"), say("list"), say("remove", "nobody"), say("remove", "a")]

    by_service = everything()
    keyed.stop()
    directly = everything()
    keyed.start()
    assert by_service == directly
    assert by_service[0][:2] == (0, "belljar: key 'a' has the scopes run,read; it is not shown again")
    assert [status for status, _, _ in by_service] == [0, 125, 125, 0, 125, 0]
    audit = keyed.cli("audit", "show").out.decode()
    assert audit.count("key.add") == audit.count("key.remove") > 0 and "unix:" in audit


def test_keys_remove_says_when_no_key_is_left(keyed):
    for name in ("one", "two"):
        keyed.add_key(name)
    assert keyed.cli("keys", "remove", "one").err == b""
    last = keyed.cli("keys", "remove", "two")
    assert last.status == 0
    assert last.message == (
        "belljar: no key is left: only root and the user of the service can use it, by its unix socket; "
        "'belljar keys add NAME --scopes run,read' makes a key")


@pytest.fixture
def taken_6080():
    """By us, or by somebody who was here before."""
    with socket.socket() as s:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        with contextlib.suppress(OSError):
            s.bind(("127.0.0.1", 6080))
            s.listen()
        yield


def test_second_default_address_may_be_taken(taken_6080):
    with Service(listen=(), environ={"SANDBOX_PORT": "0"}) as s:
        assert s.logged("listen.skipped", "address=127.0.0.1:6080")
        assert len(s.ports) == 1 and s.run("print(1)")["stdout"] == "1\n"


def test_language_of_a_program_on_stdin_is_inferred():
    assert belljar("run", "-", stdin=b"print(1)\n").out == b"1\n"
    assert belljar("run", "-", stdin=b"console.log(2)\n").out == b"2\n"
    unclear = belljar("run", "-", stdin=b"1\n")
    assert unclear.status == 125 and "the language of '-' cannot be inferred: give -l with one of" in unclear.message


def test_language_of_a_file_whose_name_says_none_is_inferred(public_path):
    for name in ("answer", "answer.txt"):
        (public_path / name).write_text("console.log(2)\n")
        assert belljar("run", "--local", public_path / name).out == b"2\n"
    (public_path / "answer.tex").write_text("console.log(2)\n")
    unclear = belljar("run", "--local", public_path / "answer.tex")
    assert unclear.status == 125 and "answer.tex' cannot be inferred: give -l with one of" in unclear.message


def test_compilers_get_a_file_by_a_name_they_know(public_path):
    (public_path / "answer.txt").write_text("package main\nimport \"fmt\"\nfunc main() { fmt.Println(3) }\n")
    assert belljar("run", "--local", "-l", "go", public_path / "answer.txt").out == b"3\n"


@pytest.mark.parametrize("command", ["run", "repl", "kernel", "serve", "history", "keys", "audit", "verify", "doctor",
                                     "version"])
def test_help_of_a_command_is_the_commands_own(command):
    helped, own = belljar("help", command), belljar(command, "--help")
    assert helped.status == own.status == 0 and helped.out == own.out and helped.err == b""
    assert f"belljar {command}".encode() in helped.out
    _, _, after = helped.out.decode().partition("Exit status:\n")
    statuses = [line.split()[0] for line in after.split("\n\n")[0].splitlines() if line[2:3].isdigit()]
    assert len(statuses) == len(set(statuses)), statuses


def test_help_lists_the_commands():
    assert belljar("help").out == belljar("--help").out
    assert belljar("help").status == 0 and b"\n  keys " in belljar("help").out
    assert belljar("help", "bogus").status == 64


@pytest.mark.parametrize("argv, meant", [
    (["rnu", "x.py"], "'run'"), (["histroy"], "'history'"), (["help", "key"], "'keys'"),
    (["run", "--tiemout", "5s", "x.py"], "--timeout"), (["run", "--memroy=5m", "x.py"], "--memory"),
    (["serve", "--lisen", "1"], "--listen"), (["history", "--jsn"], "--json"),
    (["keys", "add", "a", "--scpes", "run"], "--scopes"), (["audit", "show", "--nubmer", "1"], "--number"),
])
def test_what_is_nearly_right_is_told_what_was_meant(argv, meant):
    refused = belljar(*argv)
    assert refused.status == 64 and f"did you mean {meant}?" in refused.message, refused


@pytest.mark.parametrize("argv", [["bogus"], ["run", "--bogus"], ["serve", "--bogus"], ["run", "-Q"]])
def test_what_is_like_nothing_is_told_where_to_look(argv):
    refused = belljar(*argv)
    assert refused.status == 64 and "did you mean" not in refused.message and "see 'belljar " in refused.message
    assert argv[-1] in refused.message


@pytest.mark.parametrize("argv, said", [
    (["--listen", "127.0.0.1:99999"], "port 99999 is out of range: 0 to 65535"),
    (["--set", "runs.max=abc"], "runs.max 'abc' is not a whole number, from "),
])
def test_serve_names_the_range(argv, said, public_path):
    assert said in belljar("serve", "--state", public_path / "s", *argv).message


def test_history_is_a_table_with_a_header(service):
    mine = service.run("print(1)", thread_id="a thread")
    header, first, *_ = service.cli("history").out.decode().splitlines()
    assert header.split() == ["TIME", "ID", "LANGUAGE", "VERDICT", "WALL", "KEY", "THREAD"]
    columns = [first[header.index(name):].split("  ")[0].strip()
               for name in ("ID", "LANGUAGE", "VERDICT", "KEY", "THREAD")]
    assert columns == [mine["id"], "python", "ok", "-", "a thread"]
    assert re.search(r" [0-9.]+ (ms|s)  ", first)


def test_history_of_one_run_has_units(service):
    text = service.cli("history", service.run("print(1)")["id"]).out.decode()
    for line in (r"wall +[0-9.]+ m?s", r"cpu +[0-9.]+ m?s", r"memory +[0-9]+\.[0-9] MiB", r"accepted +.* UTC"):
        assert re.search(f"^{line}$", text, re.M), (line, text)


def test_history_as_json_is_as_the_api_has_it(service):
    mine = service.run("import sys; print(1); sys.stdout.buffer.write(bytes([255]))", thread_id="t")
    raw = service.cli("history", "--json").out
    assert json.loads(raw) == service.get("/v1/runs", {"limit": 20}).json["runs"]
    assert not re.search(rb"[0-9]\.[0-9]{10}", raw)
    one = json.loads(service.cli("history", "--json", mine["id"]).out)
    by_api = service.get(f"/v1/runs/{mine['id']}").json
    assert {name: one.get(name) for name in by_api} == by_api and "code" in one
