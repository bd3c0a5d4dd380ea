"""The host's end of a session's channel: starts a session program bare, outside a jar, and speaks frames with it."""
import os
import select
import signal
import socket
import struct
import subprocess
import tempfile
import time

FRAME_MAX = 32768
REMIND_S = 0.05  # the warden's
EXEC, INPUT, COMPLETE, INSPECT, VARIABLES, END, IMAGE, BECOME = range(1, 9)
READY, DISPLAY, UPDATE, CLEAR, RESULT, ERROR, INPUT_REQUEST, DONE, ANSWER, NOTE = range(32, 42)
NAMES = {READY: "ready", DISPLAY: "display", UPDATE: "update_display", CLEAR: "clear", RESULT: "result", ERROR: "error",
         INPUT_REQUEST: "input_request", DONE: "done", ANSWER: "answer", NOTE: "note"}
TAGS = {"code": 1, "flags": 2, "text": 3, "eof": 4, "cursor": 5, "detail": 6, "version": 7, "display_id": 8, "mime": 9,
        "data": 10, "metadata": 11, "wait": 12, "count": 13, "name": 14, "message": 15, "traceback": 16, "password": 17,
        "status": 18, "json": 19, "cut": 20, "room": 21, "values": 22}
TAG_NAMES = {number: name for name, number in TAGS.items()}


def pack(fields):
    """[(tag name, text or bytes)] as the data of a message."""
    out = b""
    for name, value in fields:
        value = value.encode() if isinstance(value, str) else value
        out += struct.pack("<HHI", TAGS[name], 0, len(value)) + value
    return out


def unpack(data):
    """The fields of a message. "bundle" has the pairs of MIME type and data: text, or bytes for images."""
    fields, bundle, mime, at = {}, {}, None, 0
    while at < len(data):
        tag, zero, length = struct.unpack_from("<HHI", data, at)
        value = data[at + 8:at + 8 + length]
        assert zero == 0 and len(value) == length, (tag, zero, length)
        at += 8 + length
        name = TAG_NAMES[tag]
        if name == "mime":
            mime = value.decode()
        elif name == "data":
            bundle[mime] = value if mime.startswith("image/") and mime != "image/svg+xml" else value.decode()
        else:
            fields[name] = value.decode()
    if bundle:
        fields["bundle"] = bundle
    return fields


class Reply(dict):
    """One request's outcome: stdout, stderr, events [(name, fields)], status. Missing parts are None."""

    def first(self, name):
        return next((fields for kind, fields in self["events"] if kind == name), None)

    @property
    def text(self):
        """The text of the result, or None."""
        result = self.first("result")
        return result and result["bundle"].get("text/plain")

    @property
    def error(self):
        return self.first("error")


class Program:
    """A session program. Use it in a `with`: it is ended there."""

    def __init__(self, argv, cwd=None, env=None, patience=60):
        self.patience, self.seq, self.request, self.peer_seq = patience, 0, 0, 0
        self.is_open = self.interrupted = False  # of the request
        self.out, self.err = b"", b""
        self.home = tempfile.TemporaryDirectory() if cwd is None else None
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.channel = ours
        out_r, out_w = os.pipe()
        err_r, err_w = os.pipe()
        self.pipes = {out_r: "out", err_r: "err"}
        start = f'exec 3<&{theirs.fileno()} {theirs.fileno()}<&-; exec "$@"'
        self.process = subprocess.Popen(["/bin/bash", "-c", start, "bash", *argv], stdin=subprocess.DEVNULL,
                                        stdout=out_w, stderr=err_w, cwd=cwd or self.home.name, env=env,
                                        pass_fds=[theirs.fileno()])
        theirs.close()
        os.close(out_w)
        os.close(err_w)
        message = self.read_frame()
        assert message, self.err.decode()
        kind, _, fields = message
        assert kind == READY, (kind, fields)
        self.version = fields.get("version")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.channel.close()
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        for fd in self.pipes:
            os.close(fd)
        if self.home:
            self.home.cleanup()

    def drain(self):
        """Reads the pipes without waiting, as the keeper does before it handles a frame."""
        for _ in range(256):  # a program may write without an end
            ready = select.select(list(self.pipes), [], [], 0)[0]
            some = False
            for fd in ready:
                data = os.read(fd, 1 << 16)
                some = some or bool(data)
                setattr(self, self.pipes[fd], getattr(self, self.pipes[fd]) + data)
            if not some:
                return

    def send(self, kind, request, fields, fds=()):
        data = pack(fields)
        while True:
            part, data = data[:FRAME_MAX], data[FRAME_MAX:]
            self.seq += 1
            frame = struct.pack("<IIHH", self.seq, request, kind, 1 if data else 0) + part
            socket.send_fds(self.channel, [frame], list(fds))
            if not data:
                return

    def wait_ready(self, descriptors):
        """The ones that can be read. Meanwhile an interrupted program is reminded, as the warden does it."""
        deadline = time.monotonic() + self.patience
        while True:
            left = max(0, deadline - time.monotonic())
            ready = select.select(descriptors, [], [], min(left, REMIND_S) if self.interrupted else left)[0]
            if ready:
                return ready
            assert left, f"nothing within {self.patience} s; stdout {self.out[-500:]!r}, stderr {self.err[-500:]!r}"
            if self.process.poll() is None:
                os.kill(self.process.pid, signal.SIGURG)

    def read_frame(self):
        """The next message: kind, request, fields. None if the program has closed the channel."""
        data = b""
        while True:
            ready = self.wait_ready([self.channel, *self.pipes])
            if self.channel not in ready:
                for fd in ready:
                    some = os.read(fd, 1 << 16)
                    if some:
                        setattr(self, self.pipes[fd], getattr(self, self.pipes[fd]) + some)
                    else:
                        os.close(fd)
                        del self.pipes[fd]
                continue
            self.drain()  # the program waits until we have read the frame, so this text is older
            try:
                frame = self.channel.recv(12 + FRAME_MAX + 1)
            except ConnectionResetError:
                frame = b""
            if not frame:
                return None
            assert 12 <= len(frame) <= 12 + FRAME_MAX
            seq, request, kind, flags = struct.unpack_from("<IIHH", frame)
            self.peer_seq += 1
            assert seq == self.peer_seq, (seq, self.peer_seq)
            data += frame[12:]
            if not flags & 1:
                return kind, request, unpack(data)

    def begin(self, kind, *fields):
        self.request += 1
        self.is_open, self.interrupted = True, False
        self.out, self.err = b"", b""
        self.send(kind, self.request, fields)

    def reply(self, events, **more):
        out, err = (text.decode(errors="replace") for text in (self.out, self.err))
        return Reply(stdout=out, stderr=err, events=events, **more)

    def finish(self, answer=None):
        """Reads the events of the request up to its end. answer(prompt): the line for an input request, or None."""
        events = []
        while True:
            message = self.read_frame()
            if message is None:
                return self.reply(events, status="gone")
            kind, request, fields = message
            assert request in (self.request, 0), (request, self.request)
            if kind == INPUT_REQUEST and answer:
                line = answer(fields.get("text", ""))
                self.send(INPUT, self.request, [("eof", "")] if line is None else [("text", line)])
            if kind == DONE:
                self.is_open = self.interrupted = False
                return self.reply(events, status=fields["status"], count=fields.get("count"))
            events.append((NAMES[kind], fields))

    def run(self, code, flags="", answer=None):
        self.begin(EXEC, ("code", code), *([("flags", flags)] if flags else []))
        return self.finish(answer)

    def ask(self, kind, *fields):
        import json
        self.begin(kind, *fields)
        reply = self.finish()
        answer = reply.first("answer")
        return json.loads(answer["json"]) if answer else reply

    def complete(self, code, cursor=None):
        return self.ask(COMPLETE, ("code", code), ("cursor", str(len(code) if cursor is None else cursor)))

    def inspect(self, code, cursor=None):
        return self.ask(INSPECT, ("code", code), ("cursor", str(len(code) if cursor is None else cursor)))

    def variables(self):
        return {v["name"]: v for v in self.ask(VARIABLES)["variables"]}

    def write_image(self, flags="", room=1 << 40, bases=()):
        """The answer, the report of the writer and the file of the image. bases: earlier images, the newest first."""
        import json
        fd = os.memfd_create("image", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        ours, theirs = os.pipe()
        self.request += 1
        self.send(IMAGE, self.request, [("flags", flags), ("room", str(room))], [fd, theirs, *bases])
        os.close(theirs)
        answer = json.loads(self.finish().first("answer")["json"])
        with open(ours) as report:
            return answer, report.read(), fd

    def become(self, fd, flags="", bases=()):
        """None: it became the image. Otherwise why it did not."""
        import json
        self.request += 1
        self.send(BECOME, self.request, [("flags", flags)], [fd, *bases])
        kind, _, fields = self.read_frame() or ("gone", 0, {})
        if kind == READY:
            return None
        answer = json.loads(fields["json"]) if kind == ANSWER else {"failed": kind}
        while kind not in (DONE, "gone"):
            kind = (self.read_frame() or ("gone",))[0]
        return answer["failed"]

    def interrupt(self):
        self.interrupted = self.is_open
        os.kill(self.process.pid, signal.SIGINT)

    def await_output(self, text):
        """Waits until stdout of the running cell has text."""
        while text.encode() not in self.out:
            self.wait_ready(list(self.pipes))
            self.drain()


class Shared:
    """One program for many tests. The failure of one test is not that of the next one: it gets a new program if the
    last one is in the middle of a request, or gone."""

    def __init__(self, make):
        self.make, self.program = make, None

    def get(self):
        if self.program and (self.program.is_open or self.program.process.poll() is not None):
            self.end()
        self.program = self.program or self.make()
        return self.program

    def end(self):
        if self.program:
            self.program.__exit__()
        self.program = None
