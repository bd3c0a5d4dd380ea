"""`belljar run` with a service on its socket: the same streams, sentences, status and files as without one. The service
here is a script of answers, so that it can also misbehave."""

import base64
import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import threading
import urllib.parse

import pytest

from harness import BELLJAR, ORDINARY_UID, ROOT, Running, as_ordinary_user, eventually, public_dir

ID = "run_0123456789abcdef"
HERE = "print('by ourselves')"


class Service:
    """Listens on STATE/belljar.sock. `script(service, connection)` answers POST /v1/runs; the rest is answered here."""

    def __init__(self, script):
        self.state = public_dir()
        self.path = str(self.state / "belljar.sock")
        self.script, self.seen, self.stdin, self.files = script, [], b"", {}
        self.stdin_statuses = []  # answers to come, before the usual 200; 0: the connection ends instead
        self.ended, self.deleted = threading.Event(), threading.Event()
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(self.path)
        self.listener.listen(16)
        self.alive = []
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self.listener.accept()
                self.alive.append(connection)
                threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        with contextlib.suppress(OSError, ValueError), connection, connection.makefile("rb") as reader:
            while line := reader.readline():
                method, path, _ = line.decode().split()
                head = dict(h.decode().strip().split(": ", 1) for h in iter(reader.readline, b"\r\n"))
                body = reader.read(int(head.get("Content-Length", 0)))
                self.seen.append((method, path, head, body))
                self.answer(connection, method, path, body)

    def answer(self, connection, method, path, body):
        if (method, path) == ("POST", "/v1/runs"):
            self.script(self, connection)
        elif (method, path) == ("POST", f"/v1/runs/{ID}/stdin"):
            status = self.stdin_statuses.pop(0) if self.stdin_statuses else 200
            piece = json.loads(body)
            if status == 0:
                return connection.shutdown(socket.SHUT_RDWR)
            if status == 200 and piece.get("eof"):
                self.ended.set()
            elif status == 200:
                self.stdin += base64.b64decode(piece["data"], validate=True)
            respond(connection, status, b"{}")
        elif (method, path) == ("DELETE", f"/v1/runs/{ID}"):
            self.deleted.set()
            respond(connection, 202, b"{}")
        elif path.startswith(f"/v1/runs/{ID}/files/"):
            name = urllib.parse.unquote(path.split("/files/")[1])
            respond(connection, 200 if name in self.files else 404, self.files.get(name, b"{}"))
        else:
            respond(connection, 200, b"{}")

    @property
    def asked(self):
        """The body of POST /v1/runs."""
        return [json.loads(body) for _, path, _, body in self.seen if path == "/v1/runs"]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for s in (self.listener, *self.alive):
            with contextlib.suppress(OSError):
                s.shutdown(socket.SHUT_RDWR)
            s.close()
        shutil.rmtree(self.state)

    def environ(self):
        return {**os.environ, "BELLJAR_STATE": str(self.state)}

    def start(self, *argv, code=HERE, name="main.py", stdin=subprocess.DEVNULL, prefix=()):
        file = self.state / name
        file.write_text(code)
        ours = argv.index("--") if "--" in argv else len(argv)
        argv = [*prefix, BELLJAR, "run", *argv[:ours], file, *argv[ours:]]
        return Running(argv, environ=self.environ(), stdin=stdin)

    def run(self, *argv, stdin=None, **how):
        with self.start(*argv, stdin=subprocess.DEVNULL if stdin is None else subprocess.PIPE, **how) as running:
            return running.finish(stdin, within=20)


def respond(connection, status, body, extra=""):
    connection.sendall(f"HTTP/1.1 {status} X\r\nContent-Length: {len(body)}\r\n{extra}\r\n".encode() + body)


def begin(connection):
    connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    event(connection, event="queued", seq=0, id=ID)
    event(connection, event="started", seq=1, id=ID)


def event(connection, **fields):
    line = json.dumps(fields).encode() + b"\n"
    connection.sendall(b"%x\r\n%s\r\n" % (len(line), line))


def done(connection, verdict="ok", exit_code=0, **more):
    result = {"id": ID, "verdict": verdict, "exit_code": exit_code, "limits": {}, "limits_hit": [], "files": []}
    event(connection, event="done", seq=9, result={**result, **more})
    connection.sendall(b"0\r\n\r\n")


def quick(service, connection):
    begin(connection)
    done(connection)


def test_streams_are_exact_and_the_status_is_the_results():
    def script(service, connection):
        begin(connection)
        event(connection, event="stdout", seq=2, data="grüße\0\n")
        event(connection, event="stderr", seq=3, data_base64=base64.b64encode(bytes(range(256))).decode())
        event(connection, event="something new", seq=4)
        event(connection, event="stdout", seq=5, data_base64="/w==")
        done(connection, "runtime_error", 42)

    with Service(script) as service:
        result = service.run()
    assert (result.status, result.out, result.err) == (42, "grüße\0\n".encode() + b"\xff", bytes(range(256)))


def test_json_is_the_result_with_the_streams():
    def script(service, connection):
        begin(connection)
        event(connection, event="stdout", seq=2, data="a")
        event(connection, event="stdout", seq=3, data_base64="/w==")
        done(connection)

    with Service(script) as service:
        result = service.run("--json").json
    assert result["stdout"] == "a\ufffd" and base64.b64decode(result["stdout_base64"]) == b"a\xff"
    assert result["stderr"] == "" and result["verdict"] == "ok" and result["id"] == ID


def test_everything_the_command_was_given_is_asked_for():
    with Service(quick) as service:
        data = service.state / "data.bin"
        data.write_bytes(b"\xff\0")
        data.chmod(0o755)
        service.run("--file", f"{data}:in/data.bin", "--env", "A=b=c", "--memory", "64m", "--out", "made",
                    "--writable-root", "--", "one", "zwö")
        (asked,) = service.asked
        (head,) = (head for _, path, head, _ in service.seen if path == "/v1/runs")
    assert head["Accept"] == "application/x-ndjson"
    assert asked["language"] == "python" and asked["entry"] == "main.py"
    assert asked["args"] == ["one", "zwö"] and asked["env"] == {"A": "b=c"} and asked["outputs"] == ["made"]
    assert asked["limits"] == {"memory": 64 << 20}, "limits that were not given are the service's"
    assert asked["read_only"] is False and asked["stream"] is True and asked["cancel_on_disconnect"] is True
    assert asked["stdin_open"] is False, "/dev/null is no stdin"
    assert asked["files"] == [
        {"name": "main.py", "content": HERE, "encoding": "utf-8"},
        {"name": "in/data.bin", "content": "/wA=", "encoding": "base64", "executable": True},
    ]


def test_stdin_arrives_whole_however_busy_the_program_is():
    def script(service, connection):
        begin(connection)
        service.ended.wait(20)
        event(connection, event="stdout", seq=2, data=str(len(service.stdin)))
        done(connection)

    data = os.urandom(1 << 20)
    with Service(script) as service:
        service.stdin_statuses = [503, 503, 200, 503, 200, 503]
        result = service.run(stdin=data)
        assert (result.status, result.out) == (0, b"1048576") and service.stdin == data


def test_stdin_survives_a_connection_that_was_idle_for_too_long():
    def script(service, connection):
        begin(connection)
        service.ended.wait(20)
        done(connection)

    data = os.urandom(1 << 18)
    with Service(script) as service:
        os.chmod(service.path, 0o666)
        service.stdin_statuses = [0, 200, 0, 0]
        result = service.run(stdin=data, prefix=as_ordinary_user())
        assert result.status == 0 and service.stdin == data, result


def test_stdin_that_is_not_wanted_any_more_is_left():
    def script(service, connection):
        begin(connection)
        eventually(lambda: not service.stdin_statuses)
        done(connection)

    with Service(script) as service:
        service.stdin_statuses = [409]
        assert service.run(stdin=b"x" * (1 << 20)).status == 0
        assert sum(path.endswith("/stdin") for _, path, _, _ in service.seen) == 1


def test_files_are_fetched_by_name_and_missing_ones_told():
    def script(service, connection):
        begin(connection)
        done(connection, files=[{"name": "a b%/ü?", "status": "ok", "size": 3}, {"name": "no", "status": "missing"}])

    with Service(script) as service:
        service.files["a b%/ü?"] = b"\0\xff\n"
        result = service.run("--out", f"a b%/ü?:{service.state}/got", "--out", f"no:{service.state}/none")
        assert result.status == 125 and result.message == "belljar: 'no' is not saved: the program did not create it"
        assert (service.state / "got").read_bytes() == b"\0\xff\n" and not (service.state / "none").exists()


@pytest.mark.parametrize(
    "verdict, status, more, said",
    [
        ("timeout", 124, {"limits": {"wall_ms": 2500}},
         "timeout: it took longer than its limit of 2500ms; --timeout DUR"),
        ("memory_limit", 137, {"limits": {"memory": 64 << 20}},
         "memory_limit: it needed more memory than its limit of 64m"),
        ("disk_limit", 1, {"limits": {"files": 50}, "limits_hit": ["files"]},
         "it made more files than its limit of 50"),
        ("internal_error", 125, {"error": "the warden is gone"}, "belljar: the warden is gone"),
        ("internal_error", 125, {"error": "python3", "error_code": "not_found"}, "installs it"),
        ("rejected", 125, {"error": "not today"}, "belljar: rejected: not today"),
        ("cancelled", 130, {}, "belljar: cancelled"),
    ],
)
def test_sentences_are_those_of_a_run_without_a_service(verdict, status, more, said):
    def script(service, connection):
        begin(connection)
        done(connection, verdict, status, **more)

    with Service(script) as service:
        result = service.run()
    assert result.status == status and said in result.message and result.err.count(b"\n") == 1, result


@pytest.mark.parametrize("argv", [["--local"], ["--isolation", "process"]], ids=["local", "isolation"])
def test_the_service_is_not_asked(argv):
    with Service(quick) as service:
        result = service.run(*argv)
        assert result.out == b"by ourselves\n" and not service.seen


def test_what_json_cannot_carry_is_run_here():
    with Service(quick) as service:
        result = service.run("--", b"\xff", code="import sys; print(ascii(sys.argv[1]))")
        assert result.out == b"'\\udcff'\n" and not service.seen


@pytest.mark.skipif(not ROOT, reason="needs two users")
def test_a_strangers_socket_is_not_trusted():
    with Service(quick) as service:
        os.chown(service.path, ORDINARY_UID, ORDINARY_UID)
        assert service.run().out == b"by ourselves\n" and not service.seen


@pytest.mark.skipif(not ROOT, reason="needs two users")
def test_roots_service_serves_an_ordinary_user_whom_it_lets_in():
    with Service(quick) as service:
        os.chmod(service.path, 0o666)
        result = service.run(prefix=as_ordinary_user())
        assert (result.status, result.out) == (0, b"") and service.asked, result


def test_nobody_on_the_socket_means_a_run_here():
    with Service(quick) as service:
        service.listener.shutdown(socket.SHUT_RDWR)
        assert service.run().out == b"by ourselves\n"


def test_a_service_that_just_stops_means_a_run_here():
    with Service(lambda service, connection: connection.shutdown(socket.SHUT_RDWR)) as service:
        result = service.run(stdin=b"untouched", code="print(input())")
        assert result.out == b"untouched\n" and len(service.asked) == 1


def test_a_busy_service_is_an_error_with_a_way_out():
    def script(service, connection):
        body = json.dumps({"error": {"code": "busy", "message": "32 runs wait already"}}).encode()
        respond(connection, 503, body, "Retry-After: 3\r\n")

    with Service(script) as service:
        result = service.run()
    assert (result.status, result.out) == (125, b"")
    assert all(word in result.message for word in ("32 runs wait already", "3 s", "--local")), result


def test_a_busy_service_that_says_when_to_try_again_is_not_echoed():
    def script(service, connection):
        body = json.dumps({"error": {"code": "busy", "message": "all taken: try again in 3 s"}}).encode()
        respond(connection, 503, body, "Retry-After: 3\r\n")

    with Service(script) as service:
        assert service.run().message == "belljar: all taken: try again in 3 s; --local runs it without the service"


@pytest.mark.skipif(not ROOT, reason="needs a service of root's")
def test_a_service_that_lets_nobody_in_is_named_before_the_way_out():
    with Service(quick) as service:
        os.chmod(service.path, 0o600)
        result = service.run(prefix=as_ordinary_user())
    assert result.status == 125 and result.out == b""
    assert result.message == (f"belljar: connect to the service at {service.path}: Permission denied; "
                              "--local runs it without the service")


def test_a_service_that_dies_is_an_error():
    def script(service, connection):
        begin(connection)
        event(connection, event="stdout", seq=2, data="before")
        connection.shutdown(socket.SHUT_RDWR)

    with Service(script) as service:
        result = service.run()
    assert (result.status, result.out) == (125, b"before")
    assert result.message == (
        "belljar: the service ended while the program ran: run the command again when it is back, or with --local")


@pytest.mark.parametrize(
    "answer",
    [
        b"SSH-2.0-OpenSSH_9.2\r\n",
        b"HTTP/1.1 200 OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}",
        b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n[1,2]\n",
        b'HTTP/1.1 200 OK\r\nContent-Length: 17\r\n\r\n{"event":"done"}\n',
        b'HTTP/1.1 200 OK\r\nContent-Length: 29\r\n\r\n{"event":"done","result":{}}\n\n',
        b'HTTP/1.1 200 OK\r\nContent-Length: 39\r\n\r\n{"event":"stdout","data_base64":"!!!!"}\n',
        b"HTTP/1.1 302 Found\r\nLocation: /\r\nContent-Length: 0\r\n\r\n",
    ],
)
def test_nonsense_is_an_error_in_one_sentence(answer):
    with Service(lambda service, connection: connection.sendall(answer)) as service:
        result = service.run()
    assert result.status == 125 and result.out == b"" and result.err.count(b"\n") == 1, result


@pytest.mark.parametrize("sig", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP], ids=lambda s: s.name)
@pytest.mark.parametrize("answers", [True, False], ids=["answered", "unanswered"])
def test_a_signal_cancels_the_run(sig, answers):
    def script(service, connection):
        begin(connection)
        event(connection, event="stdout", seq=2, data="go\n")
        service.deleted.wait(20)
        if answers:
            done(connection, "cancelled", 130)

    with Service(script) as service, service.start() as running:
        assert running.read_line() == "go"
        running.popen.send_signal(sig)
        result = running.finish(within=10)
        assert service.deleted.is_set()
    assert (result.status, result.message) == (130, "belljar: cancelled")


def test_the_reader_may_go_away():
    def script(service, connection):
        begin(connection)
        for i in range(1 << 30):
            if service.deleted.is_set():
                return done(connection, "cancelled", 130)
            event(connection, event="stdout", seq=2, data=f"{i}\n" * 100)

    with Service(script) as service, service.start() as running:
        assert running.read_line() == "0"
        running.popen.stdout.close()
        running.popen.stdout = None
        result = running.finish(within=10)
    assert (result.status, result.err) == (130, b"")


def test_a_reader_that_waits_holds_the_service_back():
    """Output that nobody reads stays with the service. It is neither lost nor collected in the command."""
    sent, total = [0], 64 << 20

    def script(service, connection):
        begin(connection)
        while sent[0] < total:
            event(connection, event="stdout", seq=2, data="x" * 65536)
            sent[0] += 65536
        done(connection)

    with Service(script) as service, service.start() as running:
        assert not eventually(lambda: sent[0] > 8 << 20, within=1)
        result = running.finish(within=30)
    assert result.status == 0 and len(result.out) == total
