"""How the end-to-end tests run `belljar serve` and talk to it: a service of their own, on ports that the kernel chose.

    with Service("--set", "runs.max=2") as s:
        assert s.run(code="print(1)", language="python")["stdout"] == "1\n"

Nothing of the user's own service is touched: state and /execute's directory are temporary. Every wait is bounded.
"""

import http.client
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import time
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote, urlencode

import harness
from harness import MARK, PATIENCE, eventually, public_dir
from hostview import descendants

STARTS_WITHIN = 30 * PATIENCE
STOPS_WITHIN = 30 * PATIENCE
NOT_OURS = ("BELLJAR_STATE", "OUTPUT_DATA_PATH", "SANDBOX_HOST", "SANDBOX_PORT", "DEBUG", "XDG_STATE_HOME")
# Room for every run that a test starts at the same time, on any number of CPUs.
ROOMY = ("--set", "runs.max=32", "--set", "runs.queue=64")
if harness.EMULATED:  # where ten seconds are few
    ROOMY += ("--set", "limits.wall_ms=60s", "--set", "limits.cpu_ms=60s")


class Reply:
    """A whole HTTP response."""

    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    @property
    def json(self):
        try:
            return json.loads(self.body)
        except ValueError as e:
            raise AssertionError(f"not JSON ({e}): {self!r}") from e

    @property
    def error(self):
        """The error of an answer under /v1, whose form is checked on the way."""
        body = self.json
        assert set(body) == {"error"} and set(body["error"]) == {"code", "message", "field"}, self
        assert self.headers["Content-Type"].startswith("application/json"), self
        return body["error"]

    def __repr__(self):
        return f"<HTTP {self.status} {dict(self.headers)} {self.body[:3000]!r}>"


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path, timeout):
        super().__init__("localhost", timeout=timeout)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(str(self.path))


class Service:
    def __init__(self, *options, listen=("127.0.0.1:0",), state=None, environ=None, prefix=()):
        self.options, self.listen, self.prefix = list(options), listen, list(prefix)
        self.scratch = public_dir()
        self.state = Path(state) if state else self.scratch / "state"
        self.workspace = self.scratch / "output_data"
        self.log_path = self.scratch / "log"
        self.environ = {k: v for k, v in os.environ.items() if k not in NOT_OURS}
        self.environ.update(OUTPUT_DATA_PATH=str(self.workspace), BELLJAR_TEST_MARK=MARK, **(environ or {}))
        self.popen, self.ports = None, []

    # ---- its life ----

    def start(self, wait=True):
        argv = [*self.prefix, harness.BELLJAR, "serve", "--state", str(self.state)]
        for address in self.listen:
            argv += ["--listen", address]
        self.log_from = self.log_path.stat().st_size if self.log_path.exists() else 0
        with open(self.log_path, "ab") as log:
            self.popen = subprocess.Popen(argv + self.options, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                          env=self.environ, cwd=self.scratch, start_new_session=True)
        self.pid = self.popen.pid
        harness.started.add(self.pid)
        if "pools.max=0" not in self.options:
            harness.pooling.add(self.pid)
        if wait:
            self.wait_ready()
        return self

    def wait_ready(self):
        ready = eventually(lambda: self.popen.poll() is not None or self.ready_line(), STARTS_WITHIN / PATIENCE)
        assert ready and self.popen.poll() is None, f"the service did not start:\n{self.log()}"
        addresses = re.search(r"listen=(\S+)", self.ready_line()).group(1).strip('"').split(",")
        self.ports = [int(a.rpartition(":")[2]) for a in addresses if not a.startswith("unix:")]

    def ready_line(self):
        lines = [line for line in self.log().splitlines() if " service.ready " in line + " "]
        return lines[-1] if lines else None

    def log(self):
        """The log since the last start."""
        return self.log_path.read_bytes()[self.log_from:].decode("utf-8", "replace")

    def logged(self, *words, within=20):
        """Whether a line with all the words is in the log, or will be soon."""
        return eventually(lambda: any(all(w in line for w in words) for line in self.log().splitlines()), within)

    def signal(self, number):
        os.kill(self.pid, number)

    def stop(self, now=False):
        """Stops the service as an operator does. It must end by itself, with success. `now` means that it does not
        wait for runs."""
        self.signal(signal.SIGTERM)
        if now and not eventually(lambda: self.popen.poll() is not None, 1):
            # Two that come before the first is heard are one.
            eventually(lambda: self.popen.poll() is not None or " service.draining " in self.log(), 20)
            self.signal(signal.SIGTERM)
        try:
            status = self.popen.wait(STOPS_WITHIN)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"still there {STOPS_WITHIN} s after SIGTERM:\n{self.log()[-4000:]}") from None
        assert status == 0, f"ended with {status}:\n{self.log()[-4000:]}"

    def half(self, name):
        """The process of its `keeper` or its `warden`; right below the supervisor are others too, that ask for
        versions."""
        def look():
            return [p for p in descendants(self.pid) if p.ppid == self.pid and p.comm == f"belljar-{name}"]

        found = eventually(look, 10)
        assert found, f"there is no {name}:\n{self.log()[-4000:]}"
        return found[0]

    def restart(self):
        """On ports of the kernel's choice again: those of before may be somebody else's by now."""
        self.stop()
        return self.start()

    def drain(self):
        """SIGTERM, and until it has been heard: from then on nothing new is taken."""
        self.signal(signal.SIGTERM)
        assert self.logged(" service.draining ", within=20), self.log()[-4000:]

    def end(self):
        if self.popen and self.popen.poll() is None:
            self.popen.kill()
            self.popen.wait(10)
        if self.popen:
            harness.pooling.discard(self.pid)
        shutil.rmtree(self.scratch, ignore_errors=True)

    def __enter__(self):
        try:
            return self.start()
        except BaseException:
            self.end()
            raise

    def __exit__(self, kind, *_):
        try:
            if kind is None and self.popen.poll() is None:
                self.stop(now=True)
            elif kind is not None:
                print(f"--- log of the service ---\n{self.log()[-6000:]}")
        finally:
            self.end()

    # ---- talking to it ----

    port = property(lambda self: self.ports[0])
    data = property(lambda self: self.state / "data")
    database = property(lambda self: self.data / "belljar.db")
    socket_path = property(lambda self: self.state / "belljar.sock")

    def connection(self, unix=False, within=60):
        if unix:
            return UnixConnection(self.socket_path, within * PATIENCE)
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=within * PATIENCE)

    def request(self, method, path, body=None, headers=None, key=None, unix=False, within=60):
        """`body`: bytes as they are, anything else as JSON."""
        headers = dict(headers or {})
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
        if body is not None:
            headers.setdefault("Content-Type", "application/json")
        if key:
            headers["Authorization"] = f"Bearer {key}"
        c = self.connection(unix, within)
        try:
            c.request(method, path, body, headers)
            r = c.getresponse()
            return Reply(r.status, r.headers, r.read())
        finally:
            c.close()

    def get(self, path, query=None, **how):
        return self.request("GET", path + ("?" + urlencode(query) if query else ""), **how)

    def post(self, path, body=None, **how):
        return self.request("POST", path, {} if body is None else body, **how)

    def put(self, path, body, **how):
        return self.request("PUT", path, body, **how)

    def delete(self, path, **how):
        return self.request("DELETE", path, **how)

    def run(self, code=None, status=200, key=None, unix=False, within=60, **fields):
        """POST /v1/runs; Python unless a language, or files, say otherwise."""
        if code is not None:
            fields["code"] = code
            fields.setdefault("language", "python")
        reply = self.post("/v1/runs", fields, key=key, unix=unix, within=within)
        assert reply.status == status, reply
        return reply.json

    def finished(self, run_id, within=30, **how):
        """The result of a run, as soon as there is one."""
        def look():
            o = self.get(f"/v1/runs/{run_id}", **how).json
            return o if o["state"] in ("finished", "interrupted") else None
        result = eventually(look, within)
        assert result, f"{run_id} did not finish within {within} s"
        return result

    def file(self, run_id, name):
        reply = self.get(f"/v1/runs/{run_id}/files/{quote(name)}")
        assert reply.status == 200, reply
        return reply.body

    def reachable(self):
        """Whether it answers; one that is short of connections refuses some."""
        try:
            return self.get("/v1/health").status == 200
        except OSError:
            return False

    def healthy(self):
        reply = self.get("/v1/health")
        assert reply.status == 200, reply
        return True

    @contextmanager
    def events(self, path="/v1/runs", body=None, sse=False, headers=None, method=None, within=60):
        """A stream of events as an iterator: `with s.events(body=…) as events: next(events)`."""
        accept = "text/event-stream" if sse else "application/x-ndjson"
        c = self.connection(within=within)
        try:
            payload = json.dumps(body).encode() if body is not None else None
            send = {"Accept": accept, **({"Content-Type": "application/json"} if payload else {}), **(headers or {})}
            c.request(method or ("POST" if body is not None else "GET"), path, payload, send)
            r = c.getresponse()
            assert r.status == 200, Reply(r.status, r.headers, r.read())
            assert r.headers["Content-Type"].startswith(accept), r.headers.items()
            yield (read_sse if sse else read_ndjson)(r)
        finally:
            c.close()

    def all_events(self, path="/v1/runs", body=None, **how):
        with self.events(path, body, **how) as events:
            return list(events)

    # ---- bytes as they are ----

    def connect(self, within=10):
        s = socket.create_connection(("127.0.0.1", self.port), within * PATIENCE)
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return s

    def raw(self, data, within=10, half_close=False, pace=None):
        """Sends bytes, all at once or `pace` of them at a time; everything that comes back until the server closes."""
        with self.connect(within) as s:
            try:
                for at in range(0, len(data), pace or len(data) or 1):
                    s.sendall(data[at : at + (pace or len(data))])
                if half_close:
                    s.shutdown(socket.SHUT_WR)
            except (BrokenPipeError, ConnectionResetError):
                pass  # it answered before it had read all
            return read_to_end(s)

    def raw_replies(self, data, **how):
        return split_replies(self.raw(data, **how))

    # ---- the command line beside it ----

    def cli(self, *args, stdin=None, within=60, environ=None):
        """`belljar ARGS` as the operator would type it, finding this service."""
        env = {**self.environ, "BELLJAR_STATE": str(self.state), **(environ or {})}
        with harness.Running([harness.BELLJAR, *args], environ=env,
                             stdin=subprocess.DEVNULL if stdin is None else subprocess.PIPE) as running:
            return running.finish(stdin, within)

    def add_key(self, name, scopes="run,read", *options):
        result = self.cli("keys", "add", name, "--scopes", scopes, *options)
        assert result.status == 0, result
        return re.search(r"blj_[A-Za-z0-9_-]{43}", result.out.decode()).group(0)


def read_to_end(s):
    got = b""
    while True:
        try:
            piece = s.recv(65536)
        except ConnectionResetError:
            return got
        except TimeoutError:
            raise AssertionError(f"the connection stayed open; so far: {got[:2000]!r}") from None
        if not piece:
            return got
        got += piece


def read_one(s, got=b""):
    """One response from a connection that stays open; (reply, the bytes after it)."""
    while True:
        replies, rest = take_reply(got)
        if replies:
            return replies, rest
        piece = s.recv(65536)
        assert piece, f"closed within a response: {got!r}"
        got += piece


def take_reply(data, head_only=False):
    """(first response, the rest), or (None, data) while it is not whole."""
    head, end, body = data.partition(b"\r\n\r\n")
    if not end:
        return None, data
    first, *lines = head.decode("latin-1").split("\r\n")
    match = re.fullmatch(r"HTTP/1\.1 (\d{3}) .*", first)
    assert match, data[:200]
    headers = http.client.HTTPMessage()
    for line in lines:
        headers[line.partition(":")[0]] = line.partition(":")[2].strip()
    status = int(match.group(1))
    if head_only or status in (100, 204, 304):
        return Reply(status, headers, b""), body
    if headers.get("Transfer-Encoding") == "chunked":
        return take_chunks(status, headers, body, data)
    size = int(headers.get("Content-Length", len(body)))
    return (Reply(status, headers, body[:size]), body[size:]) if len(body) >= size else (None, data)


def take_chunks(status, headers, body, data):
    whole = b""
    while True:
        line, end, body = body.partition(b"\r\n")
        if not end:
            return None, data
        size = int(line, 16)
        if len(body) < size + 2:
            return None, data
        whole, body = whole + body[:size], body[size + 2:]
        if size == 0:
            return Reply(status, headers, whole), body


def split_replies(data):
    replies = []
    while data:
        reply, data = take_reply(data)
        assert reply, f"half a response: {data[:500]!r}"
        replies.append(reply)
    return replies


def read_ndjson(response):
    for line in iter(response.readline, b""):
        event = json.loads(line)
        if event.get("event") != "keepalive":
            yield event


def read_sse(response):
    """Each event as its JSON; that the lines around it say the same is checked on the way."""
    fields = {}
    for line in iter(response.readline, b""):
        line = line.decode().rstrip("\n")
        if line == "" and fields:
            event = json.loads(fields["data"])
            assert fields["event"] == event["event"] and fields["id"] == str(event["seq"]), fields
            yield event
            fields = {}
        elif line and not line.startswith(":"):
            name, _, value = line.partition(": ")
            assert name not in fields, (name, fields)
            fields[name] = value
    assert not fields, f"half an event: {fields}"


def output_of(events, stream="stdout"):
    """The output in the events of a stream, as bytes."""
    import base64

    return b"".join(e["data"].encode() if "data" in e else base64.b64decode(e["data_base64"])
                    for e in events if e["event"] == stream)


def sleeper(seconds, say="go"):
    return f"import time\nprint({say!r}, flush=True)\ntime.sleep({seconds})\nprint('woke')\n"


def versions_known(s):
    """No language is being asked for its version any more: such a process comes and goes with its pipes. A slow one
    is ended."""
    silent = set(re.findall(r" language\.no_version language=(\S+)", s.log()))
    return all(l["version"] or l["name"] in silent for l in s.get("/v1/languages").json if l["installed"])


def in_threads(jobs, within=120):
    """Every job at once; their results in order."""
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(len(jobs)) as pool:
        return [f.result(timeout=within * PATIENCE) for f in [pool.submit(job) for job in jobs]]


def since(start):
    return time.monotonic() - start


