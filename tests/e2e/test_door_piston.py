"""The door of Piston: /api/v2 as its clients know it. One service for the whole file."""

import base64
import http.client
import json
import os
import socket
import struct
import subprocess
from pathlib import Path

import pytest

from harness import PATIENCE, eventually
from service import ROOMY, Service

CLIENTS = Path(__file__).parents[1] / "clients"

STAGE = {"stdout", "stderr", "output", "code", "signal", "message", "status", "cpu_time", "wall_time", "memory"}

# Piston's name, a program that greets its argument, and the package of the name
HELLO = {
    "python": "import sys\nprint('hello', sys.argv[1], input())",
    "javascript": "console.log('hello', process.argv[2], require('fs').readFileSync(0, 'utf8').trim())",
    "typescript": "const a: string = process.argv[2];"
                  " console.log('hello', a, require('fs').readFileSync(0, 'utf8').trim())",
    "bash": "read line; echo hello $1 $line",
    "c": "#include <stdio.h>\nint main(int n, char **v)"
         " { char s[9]; scanf(\"%8s\", s); printf(\"hello %s %s\\n\", v[1], s); }",
    "c++": "#include <iostream>\nint main(int, char **v) { std::string s; std::cin >> s;"
           " std::cout << \"hello \" << v[1] << \" \" << s << std::endl; }",
    "go": "package main\nimport (\"fmt\"; \"os\")\n"
          "func main() { var s string; fmt.Scan(&s); fmt.Println(\"hello\", os.Args[1], s) }",
    "rust": "use std::io; fn main() { let mut s = String::new(); io::stdin().read_line(&mut s).unwrap();"
            " println!(\"hello {} {}\", std::env::args().nth(1).unwrap(), s.trim()); }",
    "java": "import java.util.*;\npublic class Greeter { public static void main(String[] a) {"
            " System.out.println(\"hello \" + a[0] + \" \" + new Scanner(System.in).next()); } }",
    "ruby": "puts \"hello #{ARGV[0]} #{STDIN.gets.strip}\"",
    "php": "<?php echo \"hello \" . $argv[1] . \" \" . trim(fgets(STDIN)) . \"\\n\";",
    "perl": "my $s = <STDIN>; print \"hello $ARGV[0] $s\";",
    "lua": "print('hello ' .. arg[1] .. ' ' .. io.read())",
    "rscript": "cat('hello', commandArgs(TRUE)[1], readLines('stdin', 1), '\\n', sep=' ')",
}


@pytest.fixture(scope="module")
def piston():
    with Service(*ROOMY, "--set", "doors.piston=on") as s:
        yield s


def execute(s, status=200, **body):
    body.setdefault("language", "python")
    body.setdefault("version", "*")
    if "code" in body:
        body["files"] = [{"content": body.pop("code")}]
    reply = s.post("/api/v2/execute", body)
    assert reply.status == status, reply
    return reply.json


def installed(s):
    def settled():
        found = [p["language"] for p in s.get("/api/v2/packages").json if p["installed"]]
        return {r["language"]: r for r in s.get("/api/v2/runtimes").json} if len(
            s.get("/api/v2/runtimes").json) == len(found) else None
    runtimes = eventually(settled, 60)
    assert runtimes
    return runtimes


def test_piston_runs_every_language_that_is_installed(piston):
    """R8.5"""
    runtimes = installed(piston)
    assert set(runtimes["python"]) == {"language", "version", "aliases"} and "py" in runtimes["python"]["aliases"]
    assert runtimes["c"]["runtime"] == "gcc" and runtimes["javascript"]["runtime"] == "node"
    for name in sorted(HELLO.keys() - runtimes.keys()):
        print(f"{name} is not installed here, so it is not run")
        assert execute(piston, 400, language=name, code="x")["message"] == f"{name}-* runtime is unknown"
    for name in HELLO.keys() & runtimes.keys():
        r = execute(piston, language=name, code=HELLO[name], args=["world"], stdin="again")
        assert r["run"]["stdout"].split() == ["hello", "world", "again"], (name, r)
        assert (r["language"], r["version"]) == (name, runtimes[name]["version"])
        assert set(r["run"]) == STAGE and set(r.get("compile", r["run"])) == STAGE
        assert r["run"]["code"] == 0 and r["run"]["status"] is None and r["run"]["signal"] is None


def test_piston_stages_end_as_piston_says(piston):
    """R8.5: statuses, codes, signals and messages."""
    def end(stage):
        return stage["code"], stage["signal"], stage["status"], stage["message"]

    both = execute(piston, code="import sys, time\nfor i in range(3):\n print(i, flush=True); time.sleep(.1); "
                                "print('e%d' % i, file=sys.stderr); time.sleep(.1)\nsys.exit(3)")["run"]
    assert end(both) == (3, None, "RE", "Exited with error status 3")
    assert both["output"] == "0\ne0\n1\ne1\n2\ne2\n"
    assert (both["stdout"], both["stderr"]) == ("0\n1\n2\n", "e0\ne1\ne2\n")
    dead = execute(piston, code="import os; print('x', flush=True); os.kill(os.getpid(), 11)")["run"]
    assert end(dead) == (None, "SIGSEGV", "SG", "Caught fatal signal 11")
    late = execute(piston, code="print('so far', flush=True)\nwhile True: pass", run_timeout=700.5)["run"]
    assert (late["code"], late["signal"], late["status"]) == (None, "SIGKILL", "TO"), late
    assert late["stdout"] == "so far\n" and late["message"].startswith("Time limit exceeded")
    assert late["cpu_time"] > 0 and late["wall_time"] >= 500 and late["memory"] > 0
    hungry = execute(piston, code="x = bytearray(400 << 20)\nprint(len(x))", run_memory_limit=64 << 20)["run"]
    assert hungry["code"] is None or hungry["status"] == "RE", hungry
    loud = execute(piston, language="bash", code="yes | head -c 100m")["run"]
    assert end(loud) == (None, "SIGKILL", "OL", "stdout length exceeded")
    assert len(loud["stdout"]) >= 1 << 20
    loud = execute(piston, language="bash", code="yes | head -c 100m >&2")["run"]
    assert (loud["status"], loud["message"]) == ("EL", "stderr length exceeded")


def test_piston_compiles_in_a_stage_of_its_own(piston):
    bad = execute(piston, language="gcc", code="int main( {")
    assert bad["compile"] == bad["run"] and bad["compile"]["code"] == 1 and "error" in bad["compile"]["stderr"]
    two = execute(piston, language="c", version="12.x || >=1", files=[
        {"name": "main.c", "content": "int two(void); int main(void) { return two(); }"},
        {"name": "two.c", "content": "int two(void) { return 2; }"}])
    assert two["run"]["code"] == 2 and two["compile"]["code"] == 0
    slow = execute(piston, language="c", code="int main(void) { return 0; } // %s" % ("x" * 10), compile_timeout=1)
    assert slow["compile"]["status"] == "TO" and slow["compile"]["signal"] == "SIGKILL", slow


def test_piston_files_stdin_and_versions(piston):
    data = base64.b64encode(bytes(range(256))).decode()
    r = execute(piston, version="3.x", files=[
        {"name": "main.py", "content": "import mod\nprint(len(open('a.bin','rb').read()), "
                                       "open('b.bin','rb').read(), mod.x)"},
        {"name": "mod.py", "content": "x = 5"}, {"name": "a.bin", "content": data, "encoding": "base64"},
        {"name": "b.bin", "content": "00ffAb", "encoding": "hex"}])
    assert r["run"]["stdout"] == "256 b'\\x00\\xff\\xab' 5\n"
    stdin = "import sys; print(repr(sys.stdin.read()))"
    assert execute(piston, code=stdin)["run"]["stdout"] == "'\\n'\n"
    assert execute(piston, code=stdin, stdin="a")["run"]["stdout"] == "'a\\n'\n"
    assert execute(piston, code=stdin, stdin="a\n")["run"]["stdout"] == "'a\\n'\n"
    assert execute(piston, code="import sys; print(sys.argv[0])")["run"]["stdout"].endswith("file0.code\n")
    assert execute(piston, code="")["run"]["code"] == 0
    for version in ("*", "3", "3.x", ">=3", "^3.0.0", "3.11.2", "~3.11", "2 - 4", "<3 || 3.11.x"):
        assert execute(piston, version=version, code="print(1)")["version"] == "3.11.2", version


@pytest.mark.parametrize("body, message", [
    ({}, "language is required as a string"),
    ({"language": "python"}, "version is required as a string"),
    ({"language": "python", "version": "*"}, "files is required as an array"),
    ({"language": "python", "version": "*", "files": [{"name": "x"}]}, "files[0].content is required as a string"),
    ({"language": "cobol", "version": "*", "files": []}, "cobol-* runtime is unknown"),
    ({"language": "python", "version": "2.7", "files": []}, "python-2.7 runtime is unknown"),
    ({"language": "python", "version": "what", "files": []}, "python-what runtime is unknown"),
    ({"language": "python", "version": "*", "files": []}, "files must include at least one utf8 encoded file"),
    ({"language": "python", "version": "*", "files": [{"content": "MQ==", "encoding": "base64"}]},
     "files must include at least one utf8 encoded file"),
    ({"run_timeout": "5"}, "If specified, run_timeout must be a number"),
    ({"run_timeout": 10**9}, "run_timeout cannot exceed the configured limit of 300000"),
    ({"compile_timeout": -5}, "compile_timeout must be non-negative"),
    ({"run_memory_limit": 1 << 50}, "run_memory_limit cannot exceed the configured limit of 2147483648"),
    ({"files": [{"content": "1"}, {"content": "zz", "encoding": "hex"}]}, "files[1].content: is not hex"),
    ({"files": [{"content": "1"}, {"content": "?", "encoding": "base64"}]}, "base64"),
    ({"files": [{"content": "1", "name": "../x"}]}, ".."),
    ({"args": [1]}, "args[0] must be a string"),
    ({"stdin": 5}, "stdin must be a string"),
])
def test_piston_refuses_in_its_own_words(piston, body, message):
    if not {"language", "version"} & set(body) and body:
        body = {"language": "python", "version": "*", "files": [{"content": "1"}], **body}
    reply = piston.post("/api/v2/execute", body)
    assert reply.status == 400 and set(reply.json) == {"message"} and message in reply.json["message"], reply


def test_piston_answers_bad_http_in_its_own_form(piston):
    reply = piston.request("POST", "/api/v2/execute", b"language=python", {"Content-Type": "text/plain"})
    assert (reply.status, reply.json) == (415, {"message": "requests must be of type application/json"})
    for method, path, body, status in (("POST", "/api/v2/execute", b"{", 400), ("PUT", "/api/v2/execute", b"{}", 405),
                                       ("GET", "/api/v2/none", None, 404), ("GET", "/api/v2", None, 404)):
        reply = piston.request(method, path, body)
        assert reply.status == status and set(reply.json) == {"message"}, reply
    # The head alone: the answer comes before the body.
    connection = http.client.HTTPConnection("127.0.0.1", piston.port, timeout=60)
    connection.putrequest("POST", "/api/v2/execute")
    connection.putheader("Content-Type", "application/json")
    connection.putheader("Content-Length", str(65 << 20))
    connection.endheaders()
    huge = connection.getresponse()
    assert huge.status == 413 and set(json.loads(huge.read())) == {"message"}
    connection.close()


def test_piston_packages_belong_to_the_machine(piston):
    packages = {p["language"]: p for p in piston.get("/api/v2/packages").json}
    assert packages["python"] == {"language": "python", "language_version": "3.11.2", "installed": True}
    reply = piston.post("/api/v2/packages", {"language": "cobol", "version": "1.0.0"})
    assert (reply.status, reply.json) == (404, {"message": "Requested package cobol-1.0.0 does not exist"})
    reply = piston.post("/api/v2/packages", {"language": "python", "version": "*"})
    assert (reply.status, reply.json) == (409, {"message": "Package already installed"})
    assert piston.request("DELETE", "/api/v2/packages", {"language": "python", "version": "*"}).status == 403


def test_piston_is_off_by_default(service):
    reply = service.post("/api/v2/execute", {})
    assert reply.status == 404 and "doors.piston = on" in reply.json["message"]


def test_piston_runs_are_in_the_history(piston):
    execute(piston, code="print('in the history of the door')")
    rows = piston.get("/v1/runs", {"q": "history of the door"}).json["runs"]
    assert rows and rows[0]["surface"] == "piston"


class Talk:
    """A client of /api/v2/connect; its frames are made by hand, so that bad ones can be sent, too."""

    def __init__(self, s, headers="", status=101):
        self.s = socket.create_connection(("127.0.0.1", s.port), 30 * PATIENCE)
        self.s.sendall((f"GET /api/v2/connect HTTP/1.1\r\nHost: 127.0.0.1:{s.port}\r\nConnection: Upgrade\r\n"
                        "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
                        f"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n{headers}\r\n").encode())
        self.file = self.s.makefile("rb")
        self.head = b"".join(iter(self.file.readline, b"\r\n")).decode()
        assert self.head.startswith(f"HTTP/1.1 {status} "), self.head

    def frame(self, text, kind=0x81, masked=True):
        data, mask = text.encode(), os.urandom(4) if masked else b""
        size = bytes([len(data) | masked << 7]) if len(data) < 126 else bytes([126 | masked << 7]) + struct.pack(
            "!H", len(data))
        body = bytes(b ^ mask[i % 4] for i, b in enumerate(data)) if masked else data
        self.s.sendall(bytes([kind]) + size + mask + body)

    def say(self, **message):
        self.frame(json.dumps(message))

    def hear(self):
        """The next message, or the code of the close frame."""
        kind, n = self.file.read(2)
        if n == 126:
            n, = struct.unpack("!H", self.file.read(2))
        elif n == 127:
            n, = struct.unpack("!Q", self.file.read(8))
        data = self.file.read(n)
        return struct.unpack("!H", data[:2])[0] if kind == 0x88 else json.loads(data)

    def rest(self):
        heard = [self.hear()]
        while not isinstance(heard[-1], int):
            heard.append(self.hear())
        return heard


def init(code, language="python", **more):
    return {"type": "init", "language": language, "version": "*", "files": [{"content": code}], **more}


def data_of(heard, stream="stdout"):
    return "".join(m["data"] for m in heard if isinstance(m, dict) and m["type"] == "data" and m["stream"] == stream)


def test_piston_connect_streams_a_program(piston):
    """R8.5"""
    t = Talk(piston)
    assert "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=" in t.head and "Connection: Upgrade" in t.head
    t.say(**init("print('name?', flush=True)\nprint('hello', input(), '\\u00e4')\nraise SystemExit(3)"))
    assert t.hear() == {"type": "runtime", "language": "python", "version": "3.11.2"}
    assert t.hear() == {"type": "stage", "stage": "run"}
    heard = [t.hear()]
    while data_of(heard) != "name?\n":
        heard.append(t.hear())
    t.say(type="data", stream="stdin", data="wörld\n")
    heard = t.rest()
    assert data_of(heard) == "hello wörld \u00e4\n"
    assert heard[-2:] == [{"type": "exit", "stage": "run", "code": 3, "signal": None}, 4999]
    t = Talk(piston)
    t.say(**init("int main(", "c"))
    heard = t.rest()
    assert {"type": "stage", "stage": "compile"} in heard and "error" in data_of(heard, "stderr")
    assert heard[-2:] == [{"type": "exit", "stage": "compile", "code": 1, "signal": None}, 4999]
    t = Talk(piston)
    t.say(**init("#include <unistd.h>\nint main(void) { pause(); }", "c"))
    while t.hear() != {"type": "stage", "stage": "run"}:
        pass
    t.say(type="signal", signal="SIGWINCH")
    t.say(type="signal", signal="SIGTERM")
    assert t.rest() == [{"type": "exit", "stage": "run", "code": None, "signal": "SIGTERM"}, 4999]


def test_piston_connect_closes_with_the_codes_of_piston(piston):
    slow = Talk(piston)  # 1 s without a word
    talks = [Talk(piston) for _ in range(8)]
    talks[0].say(type="data", stream="stdin", data="x")
    talks[1].say(type="signal", signal="SIGINT")
    talks[2].say(**init("1", version="9.x"))
    talks[3].frame("{")
    for t in talks[4:7]:
        t.say(**init("input()"))
    talks[4].say(**init("input()"))
    talks[5].say(type="data", stream="stdout", data="x")
    talks[6].say(type="signal", signal="SIGNOTHING")
    talks[7].frame("hi", masked=False)
    ends = [t.rest() for t in talks]
    assert [e[-1] for e in ends] == [4003, 4003, 4002, 4002, 4000, 4004, 4005, 1002], ends
    assert ends[2][0] == {"type": "error", "message": "python-9.x runtime is unknown"} and ends[3][0]["type"] == "error"
    assert slow.rest() == [4001]


def test_piston_connect_ends_the_run_of_a_client_that_leaves(piston):
    t = Talk(piston)
    t.say(**init("import time\nprint('alone', flush=True)\ntime.sleep(100)", run_timeout=100000))
    while t.hear().get("data", "")[:5] != "alone":
        pass
    run = piston.get("/v1/runs", {"q": "'alone'"}).json["runs"][0]["id"]
    t.file.close()
    t.s.close()
    assert eventually(lambda: piston.get(f"/v1/runs/{run}").json["verdict"] == "cancelled", 20)


def test_piston_connect_checks_keys_and_origins(piston):
    Talk(piston, "Origin: http://example.org\r\n", 403)
    assert piston.get("/api/v2/connect").status == 400
    with Service("--set", "doors.piston=on") as s:
        key = s.add_key("talker", "run")
        Talk(s, status=401)
        t = Talk(s, f"Authorization: Bearer {key}\r\n")
        t.say(**init("print(1)"))
        assert data_of(t.rest()) == "1\n"


@pytest.mark.skipif(not (CLIENTS / "node_modules/piston-api-client").exists(),
                    reason="scripts/test-clients-deps could not get the npm packages")
def test_piston_client_of_npm(piston):
    """R8.5: piston-api-client as it is on npm."""
    program = """
        const { NodePistonClient, PistonClient } = require('piston-api-client');
        (async () => {
            const answers = [];
            for (const kind of [NodePistonClient, PistonClient]) {
                const client = new kind({ server: process.argv[1] });
                const runtimes = await client.runtimes();
                for (const [language, content] of Object.entries(JSON.parse(process.argv[2])))
                    if (kind === PistonClient ? language === 'python'
                                              : runtimes.data.some(r => r.language === language))
                        answers.push([language, (await client.execute({ language, version: '*', args: ['world'],
                                      stdin: 'again', files: [{ content }] })).data]);
            }
            process.stdout.write(JSON.stringify(answers), () => process.exit(0));  // its cache keeps a timer
        })();
    """
    known = installed(piston)
    done = subprocess.run(["node", "-e", program, f"http://127.0.0.1:{piston.port}", json.dumps(HELLO)], cwd=CLIENTS,
                          capture_output=True, text=True, timeout=120 * PATIENCE)
    assert done.returncode == 0, done.stderr
    answers = json.loads(done.stdout)
    assert {language for language, _ in answers} == HELLO.keys() & known.keys()
    assert all(r["run"]["stdout"].split() == ["hello", "world", "again"] for _, r in answers), answers
