"""Processes and files of a session, beside its cells: the helper process behind the E2B door.

    python3 -I -S belljar_helper.py FD

The program of a session starts it on request of the host. It has the rights of the guest, and serves requests on a
socket of packets until the host closes it: it starts processes and passes their output on, reads and writes files, and
watches folders. The packets are a stream of bytes. A frame of it is the length of its JSON and the length of its bytes (both
u32, little endian), and these two.

Requests: {"id", "method", "body", ...} and {"cancel": id}. Answers: {"id", "reply"} or {"id", "error": {"code", "message"}}
for one answer; {"id", "event"} for each piece of a stream and {"id", "end"} for its end; {"id", "chunk"} with the bytes of
a file. Names and values of bodies are those of E2B's envd."""
import base64
import errno
import fcntl
import json
import os
import selectors
import shutil
import signal
import socket
import stat
import struct
import sys
import termios
import time
import zlib

HOME, ALIAS = "/sandbox", "/home/user"
USERS = ("", "user", "sandbox")
CHUNK, QUEUED_MAX = 32 << 10, 1 << 20
ENTRIES_MAX, WATCHED_MAX, EVENTS_MAX = 20000, 5000, 10000
LAST_READS = 8  # of CHUNK bytes, after the end of a process
AFTER_EXIT_S = 0.2  # for the output of a process that has ended, if its children keep the pipes
_head = struct.Struct("<II")


class Refused(Exception):
    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


def refusal_of(e, path=None):
    name = f"'{path}': " if path is not None else ""
    code = {errno.ENOENT: "not_found", errno.EEXIST: "already_exists", errno.EACCES: "permission_denied",
            errno.EPERM: "permission_denied", errno.EROFS: "permission_denied", errno.ENOSPC: "resource_exhausted",
            errno.EDQUOT: "resource_exhausted", errno.EMFILE: "resource_exhausted", errno.EAGAIN: "resource_exhausted",
            errno.ENOMEM: "resource_exhausted"}.get(e.errno, "invalid_argument")
    return Refused(code, f"{name}{e.strerror or e}")


# ---- paths and entries ----

def shown_path(path):
    """The path of a client as an absolute one. Relative ones begin at its home."""
    if "\0" in path:
        raise Refused("invalid_argument", "a path with NUL is not accepted")
    if path == "~" or path.startswith("~/"):
        path = ALIAS + path[1:]
    return os.path.normpath(os.path.join(ALIAS, path)).replace("//", "/", 1)


def real_path(shown):
    if shown == ALIAS or shown.startswith(ALIAS + "/"):  # a link in the root
        return HOME + shown[len(ALIAS):]
    return shown


def moment(ns):
    whole = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(ns // 10**9))
    return f"{whole}.{ns % 10**9:09d}Z"


KINDS = {stat.S_IFREG: "FILE_TYPE_FILE", stat.S_IFDIR: "FILE_TYPE_DIRECTORY", stat.S_IFLNK: "FILE_TYPE_SYMLINK"}
METADATA = "user.e2b."


def metadata_of(path):
    try:
        return {n[len(METADATA):]: os.getxattr(path, n, follow_symlinks=False).decode("utf-8", "replace")
                for n in os.listxattr(path, follow_symlinks=False) if n.startswith(METADATA)}
    except OSError:
        return {}


def entry_of(shown):
    path = real_path(shown)
    try:
        st = os.lstat(path)
    except OSError as e:
        raise refusal_of(e, shown) from None
    kind = KINDS.get(stat.S_IFMT(st.st_mode), "FILE_TYPE_UNSPECIFIED")
    entry = {"name": os.path.basename(shown) or "/", "path": shown, "type": kind, "size": str(st.st_size),
             "mode": stat.S_IMODE(st.st_mode), "permissions": stat.filemode(st.st_mode), "owner": "user", "group": "user",
             "modifiedTime": moment(st.st_mtime_ns)}
    if kind == "FILE_TYPE_SYMLINK":
        entry["symlinkTarget"] = os.readlink(path)
    known = metadata_of(path)
    if known:
        entry["metadata"] = known
    return entry


def list_folder(shown, depth, entries):
    try:
        names = sorted(os.listdir(real_path(shown)))
    except OSError as e:
        raise refusal_of(e, shown) from None
    for name in names:
        if len(entries) >= ENTRIES_MAX:
            raise Refused("resource_exhausted", f"'{shown}' has more than {ENTRIES_MAX} entries: list a folder in it, or a smaller depth")
        try:
            entry = entry_of(os.path.join(shown, name))
        except Refused:  # it is gone
            continue
        entries.append(entry)
        if depth > 1 and entry["type"] == "FILE_TYPE_DIRECTORY":
            try:
                list_folder(entry["path"], depth - 1, entries)
            except Refused as e:
                if e.code == "resource_exhausted":
                    raise


def path_in(body, key="path"):
    value = body.get(key, "")
    if not isinstance(value, str):
        raise Refused("invalid_argument", f"{key} must be text")
    return shown_path(value)


def call_stat(body):
    return {"entry": entry_of(path_in(body))}


def call_list_dir(body):
    depth, shown, entries = body.get("depth", 1), path_in(body), []
    if not isinstance(depth, int) or depth < 0:
        raise Refused("invalid_argument", f"depth {depth!r} is not accepted: a whole number from 1")
    if not os.path.isdir(real_path(shown)) and os.path.lexists(real_path(shown)):
        raise Refused("invalid_argument", f"'{shown}' is not a directory")
    list_folder(shown, depth or 1, entries)
    return {"entries": entries}


def call_make_dir(body):
    shown = path_in(body)
    path = real_path(shown)
    if os.path.isdir(path):
        raise Refused("already_exists", f"directory already exists: '{shown}'")
    try:
        os.makedirs(path)
    except OSError as e:
        if isinstance(e, (FileExistsError, NotADirectoryError)):
            raise Refused("invalid_argument", f"'{shown}': a part of this path is a file") from None
        raise refusal_of(e, shown) from None
    return {"entry": entry_of(shown)}


def call_move(body):
    source, target = path_in(body, "source"), path_in(body, "destination")
    try:
        os.lstat(real_path(source))
        os.makedirs(os.path.dirname(real_path(target)), exist_ok=True)
        os.rename(real_path(source), real_path(target))
    except OSError as e:
        raise refusal_of(e, source) from None
    return {"entry": entry_of(target)}


def call_remove(body):
    shown = path_in(body)
    path = real_path(shown)
    try:
        if os.path.isdir(path) and not os.path.islink(path):
            shutil.rmtree(path)
        else:
            os.unlink(path)
    except FileNotFoundError:
        pass
    except OSError as e:
        raise refusal_of(e, shown) from None
    return {}


# ---- files as a whole ----

def multipart(data, kind):
    """The files of a form: pairs of a name and bytes. The parts that are no file are left out."""
    at = kind.lower().find("boundary=")
    boundary = kind[at + 9:].split(";")[0].strip().strip('"').encode("latin-1") if at >= 0 else b""
    if not 1 <= len(boundary) <= 200:
        raise Refused("invalid_argument", "the Content-Type of the form has no boundary")
    mark, found, data = b"\r\n--" + boundary, [], b"\r\n" + data
    at = data.find(mark)
    while at >= 0:
        begin = at + len(mark)
        at = data.find(mark, begin)
        if data[begin:begin + 2] == b"--":
            return found
        head_end = data.find(b"\r\n\r\n", begin)
        if at < 0 or head_end < 0 or head_end > at:
            break
        name = form_name(data[begin:head_end])
        if name is not None:
            found.append((name, data[head_end + 4:at]))
    raise Refused("invalid_argument", "the form ends in the middle of a part")


def form_name(head):
    """The name of the file in the head of a part, if its field is `file`. A client escapes three characters in it."""
    for line in head.decode("utf-8", "replace").split("\r\n"):
        if line.lower().startswith("content-disposition:") and 'name="file"' in line.replace(' filename="', " \0"):
            at = line.find('filename="')
            if at >= 0:
                name = line[at + 10:line.rfind('"')]
                return name.replace("%0D", "\r").replace("%0A", "\n").replace("%22", '"')
    return None


def decoded(data, encoding):
    if encoding in ("", "identity"):
        return data
    if encoding != "gzip":
        raise Refused("invalid_argument", f"Content-Encoding '{encoding}' is not accepted: gzip or identity")
    try:
        return zlib.decompress(data, 31)
    except zlib.error as e:
        raise Refused("invalid_argument", f"the body is not gzip: {e}") from None


def write_file(shown, data, metadata):
    path = real_path(shown)
    try:
        if os.path.isdir(path):
            raise Refused("invalid_argument", f"'{shown}' is a directory")
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as f:
            f.write(data)
    except OSError as e:
        raise refusal_of(e, shown) from None
    written = {"path": shown, "name": os.path.basename(shown), "type": "file"}
    for key, value in metadata.items():
        try:
            os.setxattr(path, METADATA + key.lower(), value.encode())
        except OSError as e:
            raise Refused("unimplemented", f"this kernel keeps no metadata of files: {e.strerror}") from None
    if metadata:
        written["metadata"] = metadata_of(path)
    return written


def call_write(request, data):
    query, kind = request.get("query", {}), request.get("type", "")
    data = decoded(data, request.get("encoding", ""))
    metadata, given = request.get("metadata", {}), query.get("path", "")
    if kind.lower().startswith("multipart/form-data"):
        files = multipart(data, kind)
        if not files:
            raise Refused("invalid_argument", "the form has no file: a part named 'file' with a filename is expected")
        if given and len(files) == 1:
            files = [(given, files[0][1])]
        elif given:
            raise Refused("invalid_argument", "a path in the query is for one file")
    elif given:
        files = [(given, data)]
    else:
        raise Refused("invalid_argument", "the query has no path")
    return [write_file(shown_path(name), content, metadata) for name, content in files]


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


# ---- folders that are watched ----

LOOK_S = 0.1


class Watch:
    """A jar has no inotify: the folder is looked at ten times a second, and after each change that a client makes here. A
    file that a program makes and removes between two looks is not seen."""

    def __init__(self, helper, body, tell):
        shown = path_in(body)
        if not os.path.isdir(real_path(shown)):
            known = os.path.lexists(real_path(shown))
            raise Refused("invalid_argument" if known else "not_found", f"'{shown}' is not a directory" if known else f"'{shown}' does not exist")
        self.helper, self.shown, self.tell, self.open = helper, shown, tell, True
        self.recursive, self.with_entry = bool(body.get("recursive")), bool(body.get("includeEntry"))
        self.known = self.scan()
        helper.at(LOOK_S, self.tick)

    def scan(self):
        found, folders = {}, [""]
        while folders and len(found) < WATCHED_MAX:
            below = folders.pop()
            try:
                with os.scandir(os.path.join(real_path(self.shown), below)) as entries:
                    for one in entries:
                        st = one.stat(follow_symlinks=False)
                        name = os.path.join(below, one.name)
                        found[name] = st.st_ino, st.st_mtime_ns, st.st_size, stat.S_IMODE(st.st_mode), stat.S_ISDIR(st.st_mode)
                        if self.recursive and stat.S_ISDIR(st.st_mode):
                            folders.append(name)
            except OSError:  # it is gone
                pass
        return found

    def look(self):
        before, now = self.known, self.scan()
        self.known = now
        inodes = {state[0] for name, state in now.items() if name not in before}
        for name, state in before.items():
            if name not in now:
                self.note(name, "EVENT_TYPE_RENAME" if state[0] in inodes else "EVENT_TYPE_REMOVE")
        moved = {state[0] for name, state in before.items() if name not in now}
        for name, state in now.items():
            old = before.get(name)
            if old is None:
                self.note(name, "EVENT_TYPE_CREATE")
                if not state[4] and state[0] not in moved:
                    self.note(name, "EVENT_TYPE_WRITE")
            elif not state[4] and state[:3] != old[:3]:
                self.note(name, "EVENT_TYPE_WRITE")
            elif state[3] != old[3]:
                self.note(name, "EVENT_TYPE_CHMOD")

    def tick(self):
        if self.open:
            self.look()
            self.helper.at(LOOK_S, self.tick)

    def note(self, name, kind):
        event = {"name": name, "type": kind}
        if self.with_entry:
            try:
                event["entry"] = entry_of(os.path.join(self.shown, name))
            except Refused:
                pass
        self.tell(event)

    def close(self):
        self.open = False


class Reading:
    """A file on its way to the host, no faster than the host takes it."""

    def __init__(self, helper, one, shown):
        path = real_path(shown)
        try:
            self.fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        except OSError as e:
            raise refusal_of(e, shown) from None
        st = os.fstat(self.fd)
        if not stat.S_ISREG(st.st_mode):
            os.close(self.fd)
            raise Refused("invalid_argument", f"'{shown}' is a directory" if stat.S_ISDIR(st.st_mode) else f"'{shown}' is no regular file")
        self.helper, self.id = helper, one
        helper.peer.send({"id": one, "file": {"size": st.st_size, "name": os.path.basename(shown)}})
        helper.readings[one] = self

    def go_on(self):
        try:
            data = os.read(self.fd, CHUNK)
        except OSError:
            data = b""
        if data:
            self.helper.peer.send({"id": self.id, "chunk": True}, data)
            return
        self.helper.peer.send({"id": self.id, "end": True})
        self.close()

    def close(self):
        os.close(self.fd)
        del self.helper.readings[self.id]


# ---- the loop ----

class Helper:
    def __init__(self, fd):
        self.selector = selectors.DefaultSelector()
        self.environment = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": HOME, **os.environ}
        self.processes, self.watches, self.watchers, self.readings, self.timers = {}, {}, {}, {}, []
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
    "read": Helper.read, "write": Helper.write, "metrics": Helper.metrics,
}
BEGAN = time.monotonic()

if __name__ == "__main__":
    Helper(int(sys.argv[1])).serve()
