"""Processes and files of a session, beside its cells: the helper process behind the E2B door.

    python3 -I -S belljar_helper.py FD

The program of a session starts it on request of the host. It has the rights of the guest, and serves requests on a
socket of packets until the host closes it: it starts processes and passes their output on, reads and writes files, and
watches folders. The packets are a stream of bytes. A frame of it is the length of its JSON and the length of its bytes (both
u32, little endian), and these two.

Requests: {"id", "method", "body", ...} and {"cancel": id}. Answers: {"id", "reply"} or {"id", "error": {"code", "message"}}
for one answer; {"id", "event"} for each piece of a stream and {"id", "end"} for its end; {"id", "chunk"} with the bytes of
a file. A connection to a port of the sandbox is a request with further messages {"id", "more"} (bytes) and {"id", "credit"}
(of bytes that the host has taken), and answers {"id", "chunk"}, {"id", "took"} and {"id", "end"}. Names and values of bodies are those of E2B's envd."""
import base64
import errno
import fcntl
import json
import os
import selectors
import signal
import socket
import struct
import sys
import termios
import time

sys.path.append(os.path.dirname(os.path.abspath(__file__)))  # -I leaves it out; last, so that it hides no module
from belljar_files import (ALIAS, CHUNK, HOME, Reading, Refused, Watch, call_list_dir, call_make_dir, call_move,  # noqa: E402
                           call_remove, call_stat, call_write, real_path, refusal_of, shown_path)
from belljar_ports import Tunnel  # noqa: E402

USERS = ("", "user", "sandbox")
QUEUED_MAX, EVENTS_MAX = 1 << 20, 10000
LAST_READS = 8  # of CHUNK bytes, after the end of a process
AFTER_EXIT_S = 0.2  # for the output of a process that has ended, if its children keep the pipes
_head = struct.Struct("<II")


# ---- the socket ----

class Peer:
    def __init__(self, fd, helper):
        self.socket = socket.socket(fileno=fd)
        self.socket.setblocking(False)
        self.helper, self.data, self.out, self.queued = helper, b"", [], 0
        helper.selector.register(self.socket, selectors.EVENT_READ, self.ready)

    def send(self, message, data=b""):
        text = json.dumps(message).encode()
        self.out.append(memoryview(_head.pack(len(text), len(data)) + text + data))
        self.queued += len(text) + len(data)
        self.flush()

    def flush(self):
        while self.out:
            try:
                n = self.socket.send(self.out[0][:CHUNK])
            except BlockingIOError:
                break
            except OSError:
                raise SystemExit from None
            self.queued -= n
            self.out[0] = self.out[0][n:]
            if not self.out[0]:
                del self.out[0]
        if not self.out:
            self.queued = 0
        events = selectors.EVENT_READ | (selectors.EVENT_WRITE if self.out else 0)
        self.helper.selector.modify(self.socket, events, self.ready)

    def ready(self, mask):
        if mask & selectors.EVENT_WRITE:
            self.flush()
        if not mask & selectors.EVENT_READ:
            return
        try:
            data = self.socket.recv(1 << 16)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            raise SystemExit
        self.data += data
        at = 0
        while len(self.data) - at >= _head.size:
            n_text, n_data = _head.unpack_from(self.data, at)
            end = at + _head.size + n_text + n_data
            if end > len(self.data):
                break
            text = self.data[at + _head.size:at + _head.size + n_text]
            self.helper.take(json.loads(text), self.data[end - n_data:end])
            at = end
        self.data = self.data[at:]


# ---- processes ----

def open_terminal():
    try:
        return os.openpty()
    except OSError as e:
        if e.errno in (errno.ENOSPC, errno.EMFILE):
            raise Refused("resource_exhausted", "all terminals of the sandbox are in use: kill one, with pty.kill()") from None
        raise Refused("unimplemented", "this sandbox has no terminals: it began before doors.e2b was on and the service started again") from None


class Process:
    def __init__(self, helper, request, body):
        config, pty = body.get("process") or {}, body.get("pty")
        self.helper, self.config, self.tag, self.subscribers = helper, config, body.get("tag"), set()
        self.master = self.stdin = None
        self.readers, self.status, self.waiting, self.over = {}, None, [], False
        args = config.get("args") or []
        if not isinstance(args, list):  # the host has checked the words of a list, and of nothing else
            raise Refused("invalid_argument", "the arguments of a command must be a list")
        argv = [config.get("cmd") or "/bin/bash", *args]
        if not all(isinstance(word, str) for word in argv):
            raise Refused("invalid_argument", "the words of a command must be text")
        env = {**helper.environment, **{str(k): str(v) for k, v in (config.get("envs") or {}).items()}}
        shown = shown_path(config.get("cwd") or ALIAS)
        if not os.path.isdir(real_path(shown)):
            raise Refused("invalid_argument", f"cwd '{shown}' does not exist")
        self.shown_cwd = config.get("cwd")
        try:
            self.start(argv, env, real_path(shown), pty, body.get("stdin", True))
        except OSError as e:
            raise refusal_of(e, argv[0]) from None
        if request.get("timeout_ms"):
            helper.at(request["timeout_ms"] / 1000, self.late)

    def start(self, argv, env, cwd, pty, wants_stdin):
        ours, theirs = [], []
        try:
            if pty:
                master, slave = open_terminal()
                ours, theirs = [master], [slave]
                self.master = self.stdin = master
                self.resize(pty)
                numbers, names = [slave] * 3, {"pty": master}
            else:
                pairs = [os.pipe2(os.O_CLOEXEC) for _ in range(2)]
                into = os.pipe2(os.O_CLOEXEC) if wants_stdin else (os.open("/dev/null", os.O_RDONLY | os.O_CLOEXEC), -1)
                theirs = [into[0], pairs[0][1], pairs[1][1]]
                ours = [pairs[0][0], pairs[1][0]] + ([into[1]] if wants_stdin else [])
                self.stdin = into[1] if wants_stdin else None
                numbers, names = theirs, {"stdout": pairs[0][0], "stderr": pairs[1][0]}
            self.pid = self.launch(argv, env, cwd, numbers, bool(pty))
        except BaseException:
            for fd in ours:
                os.close(fd)
            raise
        finally:
            for fd in theirs:
                os.close(fd)
        if self.stdin is not None:
            os.set_blocking(self.stdin, False)
        for name, fd in names.items():
            os.set_blocking(fd, False)
            self.readers[name] = fd
            self.helper.selector.register(fd, selectors.EVENT_READ, lambda _, n=name: self.read(n))

    @staticmethod
    def launch(argv, env, cwd, numbers, is_pty):
        report, told = os.pipe2(os.O_CLOEXEC)
        pid = os.fork()
        if pid == 0:
            try:
                os.setsid()
                for i, fd in enumerate(numbers):
                    os.dup2(fd, i)
                if is_pty:
                    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
                for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGPIPE, signal.SIGCHLD, signal.SIGHUP, signal.SIGTERM):
                    signal.signal(number, signal.SIG_DFL)
                os.chdir(cwd)
                os.closerange(3, told)
                os.closerange(told + 1, 4096)
                os.execvpe(argv[0], argv, env)
            except (OSError, ValueError, TypeError) as e:
                os.write(told, str(getattr(e, "errno", None) or errno.EINVAL).encode())
            finally:
                os._exit(127)
        os.close(told)
        failed = os.read(report, 16)
        os.close(report)
        if failed:
            os.waitpid(pid, 0)
            raise OSError(int(failed), os.strerror(int(failed)))
        return pid

    def resize(self, pty):
        size = pty.get("size") or {}
        rows, cols = size.get("rows", 24), size.get("cols", 80)
        if self.master is None:
            raise Refused("failed_precondition", "the process has no terminal")
        if not all(isinstance(n, int) and 1 <= n <= 0xffff for n in (rows, cols)):
            raise Refused("invalid_argument", f"a terminal of {cols!r} columns and {rows!r} rows is not accepted: 1 to 65535 of each")
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, cols, 0, 0))

    def late(self):
        if self.status is None:
            for one in sorted(self.subscribers):
                self.helper.fail(one, Refused("deadline_exceeded", "the process reached its time limit and was killed"))
            self.subscribers.clear()
            self.signal(signal.SIGKILL)

    def signal(self, number):
        try:
            os.killpg(self.pid, number)
        except OSError:
            pass

    def tell(self, event):
        for one in sorted(self.subscribers):
            self.helper.peer.send({"id": one, "event": {"event": event}})

    def read(self, name):
        fd = self.readers[name]
        try:
            data = os.read(fd, CHUNK)
        except BlockingIOError:
            return
        except OSError:  # a terminal whose last process has ended
            data = b""
        if data:
            if self.subscribers:
                self.tell({"data": {name: base64.b64encode(data).decode()}})
            return
        self.helper.selector.unregister(fd)
        del self.readers[name]
        if fd != self.master:
            os.close(fd)
        if not self.over:
            self.look()

    def exited(self, status):
        self.status = status
        self.helper.at(AFTER_EXIT_S, self.finish)
        self.look()

    def look(self):
        if self.status is not None and not self.readers:
            self.finish()

    def finish(self):
        if self.over:
            return
        self.over = True
        for name in list(self.readers):  # the bytes that are there now
            for _ in range(LAST_READS):
                if name in self.readers:
                    self.read(name)
        signaled = os.WIFSIGNALED(self.status)
        if signaled:
            number = os.WTERMSIG(self.status)
            code, words = -1, f"signal: {signal.strsignal(number) or number}".lower()
        else:
            code = os.WEXITSTATUS(self.status)
            words = f"exit status {code}"
        end = {"exitCode": code, "exited": not signaled, "status": words}
        if code:
            end["error"] = words
        self.tell({"end": end})
        for one in self.subscribers:
            self.helper.peer.send({"id": one, "end": True})
        self.subscribers.clear()
        self.close_stdin()
        del self.helper.processes[self.pid]
        self.close_terminal()

    def close_terminal(self):
        """The processes that still have the terminal get SIGHUP: a sandbox has only a few terminals."""
        if self.master is None:
            return
        self.stop_feeding()
        if self.readers:
            self.helper.selector.unregister(self.master)
            self.readers.clear()
        os.close(self.master)
        self.master = self.stdin = None

    def write(self, data):
        if self.stdin is None:
            raise Refused("failed_precondition", "stdin of the process is closed, or was not asked for: start it with stdin: true")
        self.waiting.append(data)
        if len(self.waiting) == 1:
            self.feed(0)

    def feed(self, _):
        fd = self.stdin
        while self.waiting and fd is not None:
            try:
                n = os.write(fd, self.waiting[0]) if self.waiting[0] else 0
            except BlockingIOError:
                self.helper.selector.register(os.dup(fd) if fd == self.master else fd, selectors.EVENT_WRITE, self.refeed)
                return
            except OSError:
                self.waiting.clear()
                return
            self.waiting[0] = self.waiting[0][n:]
            if not self.waiting[0]:
                del self.waiting[0]
        if self.closing and not self.waiting:
            self.close_stdin()

    closing = False

    def stop_feeding(self):
        for key in list(self.helper.selector.get_map().values()):
            if key.data == self.refeed:
                self.helper.selector.unregister(key.fileobj)
                if key.fileobj != self.stdin:
                    os.close(key.fileobj)

    def refeed(self, _):
        self.stop_feeding()
        self.feed(0)

    def close_stdin(self):
        if self.waiting and not self.over:
            self.closing = True
            return
        if self.stdin is None:
            return
        if self.stdin == self.master:
            if not self.over:
                self.closing = False
                self.write(b"\x04")  # a terminal has no end of input but this character
            return
        try:
            self.helper.selector.unregister(self.stdin)
        except KeyError:
            pass
        os.close(self.stdin)
        self.stdin = None

    def listed(self):
        config = {"cmd": self.config.get("cmd", ""), "args": self.config.get("args", []), "envs": self.config.get("envs") or {}}
        if self.shown_cwd:
            config["cwd"] = self.shown_cwd
        return {"config": config, "pid": self.pid, **({"tag": self.tag} if self.tag else {})}


# ---- the loop ----

class Helper:
    def __init__(self, fd):
        self.selector = selectors.DefaultSelector()
        self.environment = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": HOME, **os.environ}
        self.processes, self.watches, self.watchers, self.readings, self.timers = {}, {}, {}, {}, []
        self.tunnels = {}
        self.keep_alive = {}
        self.last_cpu = None
        wake, self.wake_out = socket.socketpair()
        wake.setblocking(False)
        self.wake_out.setblocking(False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        signal.set_wakeup_fd(self.wake_out.fileno(), warn_on_full_buffer=False)
        self.selector.register(wake, selectors.EVENT_READ, lambda _: self.reap(wake))
        self.peer = Peer(fd, self)

    def at(self, seconds, function):
        self.timers.append((time.monotonic() + seconds, function))

    def reap(self, wake):
        try:
            wake.recv(4096)
        except BlockingIOError:
            pass
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            if pid in self.processes:
                self.processes[pid].exited(status)

    def fail(self, one, e):
        self.peer.send({"id": one, "error": {"code": e.code, "message": str(e)}})

    def take(self, request, data):
        if "cancel" in request:
            self.cancel(request["cancel"])
            return
        one = request["id"]
        if "more" in request or "credit" in request:
            if one in self.tunnels:
                self.tunnels[one].take(request.get("credit", 0), data)
            return
        try:
            if request.get("user", "") not in USERS:
                raise Refused("invalid_argument", f"user '{request['user']}' does not exist: a sandbox has one user, 'user', without the rights of root")
            handler = METHODS.get(request["method"])
            if not handler:
                raise Refused("unimplemented", f"'{request['method']}' is not served here")
            handler(self, one, request, data)
        except Refused as e:
            self.fail(one, e)
        except (KeyError, TypeError, ValueError, AttributeError) as e:
            self.fail(one, Refused("invalid_argument", f"the request has a field of a wrong type: {e}"))
        except OSError as e:
            self.fail(one, refusal_of(e))

    def reply(self, one, value):
        self.peer.send({"id": one, "reply": value})

    def cancel(self, one):
        for process in self.processes.values():
            process.subscribers.discard(one)
        if one in self.watches:
            self.watches.pop(one).close()
        if one in self.readings:
            self.readings[one].close()
        if one in self.tunnels:
            self.tunnels[one].close()
        self.keep_alive.pop(one, None)

    def process_of(self, body):
        which = body.get("process") or {}
        for process in self.processes.values():
            if process.pid == which.get("pid") or (which.get("tag") and process.tag == which["tag"]):
                return process
        raise Refused("not_found", f"process with pid {which.get('pid')} not found" if "pid" in which else "no such process")

    def follow(self, process, one, request):
        process.subscribers.add(one)
        self.peer.send({"id": one, "event": {"event": {"start": {"pid": process.pid}}}})
        every = request.get("keepalive_s") or 0
        if every > 0:
            self.keep_alive[one] = every
            self.at(every, lambda: self.beat(one, every))

    def beat(self, one, every):
        if any(one in p.subscribers for p in self.processes.values()):
            self.peer.send({"id": one, "event": {"event": {"keepalive": {}}}})
            self.at(every, lambda: self.beat(one, every))
        elif one in self.watches:
            self.peer.send({"id": one, "event": {"keepalive": {}}})
            self.at(every, lambda: self.beat(one, every))

    def start(self, one, request, _):
        process = Process(self, request, request.get("body") or {})
        self.processes[process.pid] = process
        self.follow(process, one, request)

    def connect(self, one, request, _):
        process = self.process_of(request["body"])
        self.follow(process, one, request)
        if request.get("timeout_ms"):
            def late():
                if one in process.subscribers:
                    process.subscribers.discard(one)
                    self.fail(one, Refused("deadline_exceeded", "the time limit of the connection to the process is over"))
            self.at(request["timeout_ms"] / 1000, late)

    def list(self, one, _request, _data):
        self.reply(one, {"processes": [p.listed() for p in self.processes.values()]})

    def send_input(self, one, request, _):
        given = request["body"].get("input") or {}
        process = self.process_of(request["body"])
        try:
            data = base64.b64decode(given.get("stdin", given.get("pty", "")), validate=True)
        except ValueError as e:
            raise Refused("invalid_argument", f"the input is not base64: {e}") from None
        if "pty" in given and process.master is None:
            raise Refused("failed_precondition", "the process has no terminal")
        process.write(data)
        self.reply(one, {})

    def send_signal(self, one, request, _):
        number = {"SIGNAL_SIGTERM": 15, "SIGNAL_SIGKILL": 9, 15: 15, 9: 9}.get(request["body"].get("signal"))
        if number is None:
            raise Refused("invalid_argument", f"signal {request['body'].get('signal')!r} is not accepted: SIGNAL_SIGTERM or SIGNAL_SIGKILL")
        self.process_of(request["body"]).signal(number)
        self.reply(one, {})

    def close_stdin(self, one, request, _):
        self.process_of(request["body"]).close_stdin()
        self.reply(one, {})

    def update(self, one, request, _):
        process = self.process_of(request["body"])
        if request["body"].get("pty"):
            process.resize(request["body"]["pty"])
        self.reply(one, {})

    def watch_dir(self, one, request, _):
        self.watches[one] = Watch(self, request.get("body") or {}, lambda e: self.peer.send({"id": one, "event": {"filesystem": e}}))
        self.peer.send({"id": one, "event": {"start": {}}})
        if request.get("timeout_ms"):
            def late():
                if one in self.watches:
                    self.watches.pop(one).close()
                    self.fail(one, Refused("deadline_exceeded", "the time limit of the watch is over"))
            self.at(request["timeout_ms"] / 1000, late)
        every = request.get("keepalive_s") or 0
        if every > 0:
            self.at(every, lambda: self.beat(one, every))

    def create_watcher(self, one, request, _):
        if len(self.watchers) >= 64:
            raise Refused("resource_exhausted", "a sandbox has at most 64 watchers: remove one")
        events = []
        name = f"w{one}"

        def note(event):
            if len(events) < EVENTS_MAX:
                events.append(event)
        self.watchers[name] = Watch(self, request.get("body") or {}, note), events
        self.reply(one, {"watcherId": name})

    def watcher_of(self, request):
        name = request["body"].get("watcherId")
        if name not in self.watchers:
            raise Refused("not_found", f"there is no watcher '{name}'")
        return name

    def watcher_events(self, one, request, _):
        _, events = self.watchers[self.watcher_of(request)]
        self.reply(one, {"events": list(events)})
        events.clear()

    def remove_watcher(self, one, request, _):
        self.watchers.pop(self.watcher_of(request))[0].close()
        self.reply(one, {})

    def read(self, one, request, _):
        given = request.get("query", {}).get("path", "")
        if not given:
            raise Refused("invalid_argument", "the query has no path")
        Reading(self, one, shown_path(given))

    def write(self, one, request, data):
        self.reply(one, call_write(request, data))
        self.look_at_folders()

    def look_at_folders(self):
        for watch in [*self.watches.values(), *(w for w, _ in self.watchers.values())]:
            watch.look()

    def port(self, one, request, data):
        Tunnel(self, one, request["port"], data)

    def metrics(self, one, _request, _data):
        """CPU time of the processes that live; the first answer is about their whole life."""
        ticks, disk = os.sysconf("SC_CLK_TCK"), os.statvfs(HOME)
        cpu = 0
        for name in os.listdir("/proc"):
            if name.isdigit():
                try:
                    with open(f"/proc/{name}/stat", encoding="utf-8", errors="replace") as f:
                        fields = f.read().rsplit(")", 1)[1].split()
                    cpu += int(fields[11]) + int(fields[12])
                except (OSError, IndexError, ValueError):
                    pass
        now, before = (time.monotonic(), cpu / ticks), self.last_cpu or (BEGAN, 0.0)
        self.last_cpu = now
        share = max(0.0, now[1] - before[1]) / max(now[0] - before[0], 0.001)
        self.reply(one, {"cpuUsedPct": round(100 * share, 2), "diskUsed": (disk.f_blocks - disk.f_bfree) * disk.f_frsize,
                         "diskTotal": disk.f_blocks * disk.f_frsize})

    def step(self):
        wait = min((t for t, _ in self.timers), default=None)
        busy = self.peer.queued > QUEUED_MAX
        if wait is not None:
            wait = max(0, wait - time.monotonic())
        if self.readings and not busy:
            wait = 0
        found = self.selector.select(wait)
        for key, mask in found:
            # While the host does not read, no output is read either: the processes wait in turn.
            if not busy or key.fileobj is self.peer.socket:
                key.data(mask)
        if busy and len(found) > (self.peer.queued <= QUEUED_MAX):
            time.sleep(0.002)
        if not busy:
            for one in list(self.readings.values()):
                one.go_on()
        now = time.monotonic()
        due = [function for t, function in self.timers if t <= now]
        self.timers = [(t, function) for t, function in self.timers if t > now]
        for function in due:
            function()

    def serve(self):
        try:
            while True:
                self.step()
        finally:
            for process in self.processes.values():
                process.signal(signal.SIGKILL)


def simple(function):
    def handle(helper, one, request, _):
        helper.reply(one, function(request.get("body") or {}))
        helper.look_at_folders()
    return handle


METHODS = {
    "process.Process/Start": Helper.start, "process.Process/Connect": Helper.connect, "process.Process/List": Helper.list,
    "process.Process/SendInput": Helper.send_input, "process.Process/SendSignal": Helper.send_signal,
    "process.Process/CloseStdin": Helper.close_stdin, "process.Process/Update": Helper.update,
    "filesystem.Filesystem/Stat": simple(call_stat), "filesystem.Filesystem/ListDir": simple(call_list_dir),
    "filesystem.Filesystem/MakeDir": simple(call_make_dir), "filesystem.Filesystem/Move": simple(call_move),
    "filesystem.Filesystem/Remove": simple(call_remove), "filesystem.Filesystem/WatchDir": Helper.watch_dir,
    "filesystem.Filesystem/CreateWatcher": Helper.create_watcher,
    "filesystem.Filesystem/GetWatcherEvents": Helper.watcher_events,
    "filesystem.Filesystem/RemoveWatcher": Helper.remove_watcher,
    "read": Helper.read, "write": Helper.write, "metrics": Helper.metrics, "port": Helper.port,
}
BEGAN = time.monotonic()

if __name__ == "__main__":
    Helper(int(sys.argv[1])).serve()
