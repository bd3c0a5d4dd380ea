"""The program's end of a session's channel: frames, messages and their fields (src/session/README.md).

Everything that the loop of a session needs is kept in private names: a cell may replace or delete functions of os,
struct or builtins, and the next cell must still arrive."""
import array
import builtins
import fcntl
import os
import resource
import select
import struct
import termios
import threading
import time

# Functions of our modules look up built-in names here, and not where a cell can change them.
PRIVATE_BUILTINS = dict(vars(builtins))
__builtins__ = PRIVATE_BUILTINS

EXEC, INPUT, COMPLETE, INSPECT, VARIABLES, END, IMAGE, BECOME, HELPER = range(1, 10)
READY, DISPLAY, UPDATE, CLEAR, RESULT, ERROR, INPUT_REQUEST, DONE, ANSWER, NOTE = range(32, 42)
(CODE, FLAGS, TEXT, EOF, CURSOR, DETAIL, VERSION, DISPLAY_ID, MIME, DATA, METADATA, WAIT, COUNT, NAME, MESSAGE, TRACEBACK,
 PASSWORD, STATUS, JSON, CUT, ROOM, VALUES) = range(1, 23)
MORE = 1
FRAME_DATA_MAX = 32768
RECEIVED_MAX = 8 << 20
SENT_MAX = 2 << 20
TAKEN_S = 1.0
LOWEST_FD = 200  # out of the way of numbers that programs use

_write, _close, _fstat, _dup2, _poll = os.write, os.close, os.fstat, os.dup2, select.poll
_ioctl, _sleep, _monotonic, _array = fcntl.ioctl, time.sleep, time.monotonic, array.array
_frame, _field = struct.Struct("<IIHH"), struct.Struct("<HHI")


try:
    from _belljar_image import receive as _receive
except ImportError:
    def _receive(fd, size, _read=os.read):
        return _read(fd, size), ()


class Closed(BaseException):
    """The host has closed its end, or no descriptor of the channel is left."""


class Message:
    __slots__ = ("kind", "request", "fields", "fds")

    def __init__(self, kind, request, data, fds=()):
        self.kind, self.request, self.fields, self.fds = kind, request, {}, fds
        at, end = 0, len(data)
        while at < end:
            if end - at < _field.size:
                raise Closed("a field is cut short")
            tag, _, length = _field.unpack_from(data, at)
            at += _field.size
            if length > end - at:
                raise Closed("a field is longer than its message")
            self.fields[tag] = data[at:at + length]
            at += length

    def text(self, tag, otherwise=""):
        value = self.fields.get(tag)
        return otherwise if value is None else value.decode("utf-8", "replace")

    def number(self, tag, otherwise=0):
        text = self.text(tag)
        return int(text) if text.isdecimal() else otherwise


def _same_file(fd, identity):
    try:
        st = _fstat(fd)
    except OSError:
        return False
    return (st.st_dev, st.st_ino) == identity


class Channel:
    def __init__(self, fd):
        self._sent = 0
        self._lock = threading.RLock()
        self._move = lambda at: fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, at)
        self._fd = self._move(LOWEST_FD)
        top = min(resource.getrlimit(resource.RLIMIT_NOFILE)[0], 1 << 16)
        # A cell that closes a range of descriptors rarely closes all of them.
        self._spares = []
        for at in (top - 1, top // 2):
            if at > self._fd:
                self._spares.append(self._move(at))
        self._move = None
        os.close(fd)
        st = _fstat(self._fd)
        self._identity = (st.st_dev, st.st_ino)

    def usable(self):
        """The number of a descriptor that is still the channel."""
        if _same_file(self._fd, self._identity):
            return self._fd
        for spare in self._spares:
            if _same_file(spare, self._identity):
                self._fd = spare
                return spare
        raise Closed("every descriptor of the channel was closed")

    def sent(self):
        return self._sent

    def went_on(self, sent):
        """In a process that became an image: its own channel has so many frames already."""
        self._sent = sent
        st = _fstat(self._fd)
        self._identity = (st.st_dev, st.st_ino)

    def send(self, kind, request, fields):
        """fields: pairs of a tag and bytes or text."""
        parts = []
        for tag, value in fields:
            if isinstance(value, str):
                value = value.encode("utf-8", "surrogateescape" if tag == DATA else "replace")
            parts.append(_field.pack(tag, 0, len(value)))
            parts.append(value)
        data = b"".join(parts)
        with self._lock:
            at = 0
            while True:
                part = data[at:at + FRAME_DATA_MAX]
                at += len(part)
                more = MORE if at < len(data) else 0
                self._sent += 1
                self._put(_frame.pack(self._sent & 0xffffffff, request, kind, more) + part)
                if not more:
                    return

    def wait_until_taken(self):
        """Waits until the host has read every frame. It reads the pipes before, so text that is printed from now on comes
        after the frames. A host that does not read for a second gets it in any order."""
        unread, deadline, pause = _array("i", [0]), _monotonic() + TAKEN_S, 0.00002
        try:
            while not _ioctl(self._fd, termios.TIOCOUTQ, unread) and unread[0] and _monotonic() < deadline:
                _sleep(pause)
                pause = min(2 * pause, 0.005)
        except OSError:
            pass

    def _put(self, frame):
        while True:
            try:
                _write(self._fd, frame)
                return
            except BlockingIOError:  # a cell may have made it non-blocking
                self._wait(select.POLLOUT)
            except BrokenPipeError:
                raise Closed("the host is gone") from None
            except OSError:
                self.usable()

    def wait(self):
        """Waits for a message."""
        self._wait(select.POLLIN)

    def _wait(self, event):
        poll = _poll()
        poll.register(self._fd, event)
        poll.poll()

    def receive(self):
        """The next message. The program waits here between two cells, and nowhere else: no other descriptor of ours is
        open, and we have no thread, so a copy of the process can go on from here."""
        data, fds = b"", []
        while True:
            try:
                frame, more_fds = _receive(self._fd, _frame.size + FRAME_DATA_MAX)
                fds += more_fds
            except BlockingIOError:
                self._wait(select.POLLIN)
                continue
            except ConnectionError:
                raise Closed("the host is gone") from None
            except OSError:
                self.usable()
                continue
            if len(frame) < _frame.size:
                raise Closed("the host is gone")
            _, request, kind, flags = _frame.unpack_from(frame)
            data += frame[_frame.size:]
            if len(data) > RECEIVED_MAX:
                raise Closed("a message is too long")
            if not flags & MORE:
                return Message(kind, request, data, fds)
