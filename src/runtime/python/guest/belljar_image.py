"""Forks of a session: the parts of a process that are not in its memory, before an image is written and after another
process became it.

The host gives the file of the image and a pipe for the writer's report. The module in C writes the files of /sandbox and
/tmp, and the memory behind them."""
import os
import select
import socket
import stat
import sys
import threading

from belljar_channel import PRIVATE_BUILTINS

try:
    import _belljar_image as image
except ImportError:  # another version of Python than the one that it was built for
    image = None

__builtins__ = PRIVATE_BUILTINS

FILES_AT = 4096  # the first page belongs to the module
_NAMES = {"socket": "a socket", "pipe": "a pipe", "anon_inode": "a kernel object"}


class Refused(Exception):
    pass


# ---- descriptors ----

def _numbers():
    """Of every descriptor; the list itself was one of them and is gone."""
    return [n for n in sorted(map(int, os.listdir("/proc/self/fd"))) if _identity(n)]


def _identity(fd):
    try:
        st = os.fstat(fd)
    except OSError:
        return None
    return st.st_dev, st.st_ino


def _can_reopen(st, name):
    if name.endswith(" (deleted)") or not name.startswith("/"):
        return False
    if stat.S_ISCHR(st.st_mode):
        return name.startswith("/dev/")
    return stat.S_ISREG(st.st_mode) or stat.S_ISDIR(st.st_mode)


class Plan:
    """The descriptors and the place of a session; in its memory, and so in the image."""

    def __init__(self, session, skipped):
        import fcntl
        self.folder = os.getcwd()
        self.ours, self.files, self.dead, self.lost = [], [], [], []
        identities = {_identity(session.channel.usable()): "channel", _identity(0): 0,
                      _identity(session.out_fd): 1, _identity(session.err_fd): 2}
        loop = _idle_loop()
        for number in _numbers():
            if number in skipped:
                continue
            st, name = os.fstat(number), os.readlink(f"/proc/self/fd/{number}")
            flags, keep = fcntl.fcntl(number, fcntl.F_GETFL), os.get_inheritable(number)
            role = identities.get((st.st_dev, st.st_ino))
            if role is not None:
                self.ours.append((number, role, keep))
            elif _can_reopen(st, name):
                at = os.lseek(number, 0, os.SEEK_CUR) if stat.S_ISREG(st.st_mode) else 0
                self.files.append((number, name, flags, at, keep))
            else:
                kind = name.partition(":")[0]
                self.dead.append((number, name, flags, keep))
                if number not in loop:
                    self.lost.append(f"{_NAMES.get(kind, 'the file ' + name)} (descriptor {number})")

    def restore(self, channel):
        """In the process that became the image. channel: the number of its own channel."""
        taken = {n for rows in (self.ours, self.files, self.dead) for n, *_ in rows}
        mine = {role: self._aside(fd, taken) for role, fd in ((0, 0), (1, 1), (2, 2), ("channel", channel))}
        for number in _numbers():
            if number not in mine.values():
                quietly(os.close, number)
        for number, role, keep in self.ours:
            os.dup2(mine[role], number, keep)
        for number, name, flags, at, keep in self.files:
            self._place(number, keep, lambda: self._open(name, flags, at), flags)
        for number, name, flags, keep in self.dead:
            self._place(number, keep, lambda: _dead_end(name, flags), flags)
        for fd in mine.values():
            os.close(fd)
        quietly(os.chdir, self.folder)

    @staticmethod
    def _aside(fd, taken):
        import fcntl
        at = 300
        while True:
            number = fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, at)
            if number not in taken:
                return number
            os.close(number)
            at = number + 1

    @staticmethod
    def _open(name, flags, at):
        flags &= ~(os.O_CREAT | os.O_EXCL | os.O_TRUNC)
        fd = os.open(name, flags | os.O_CLOEXEC)
        if at:
            os.lseek(fd, at, os.SEEK_SET)
        return fd

    def _place(self, number, keep, make, flags):
        try:
            fd = make()
        except OSError:
            fd = _dead_end("socket", flags)
        if fd != number:
            os.dup2(fd, number, keep)
            os.close(fd)
        else:
            os.set_inheritable(number, keep)


def quietly(function, *args):
    try:
        function(*args)
    except OSError:
        pass


def _dead_end(name, flags):
    """In place of a descriptor that cannot be carried: reading finds the end, and writing fails. A closed number would
    soon be another file's."""
    if "eventpoll" in name:
        made = select.epoll()
        return os.dup(made.fileno())
    if name.startswith("pipe"):
        ends = os.pipe()
        writes = flags & os.O_ACCMODE == os.O_WRONLY
        os.close(ends[0 if writes else 1])
        return ends[1 if writes else 0]
    first, second = socket.socketpair()
    second.close()
    return first.detach()


# ---- event loops, threads and children ----

def _loops():
    """The event loops that are open: the shell's, and others that cells have made. Only if there are more of them than
    known ones, all objects are looked through."""
    if "asyncio" not in sys.modules:
        return []
    from asyncio.selector_events import BaseSelectorEventLoop as Loop
    helpers = sys.modules.get("IPython.core.async_helpers")
    policy = sys.modules["asyncio"].events._event_loop_policy
    known = [helpers and helpers._asyncio_event_loop, policy and getattr(policy._local, "_loop", None)]
    numbers = {loop._selector.fileno() for loop in known if _is_open(loop, Loop)}
    if any(n not in numbers for n in _numbers() if os.readlink(f"/proc/self/fd/{n}") == "anon_inode:[eventpoll]"):
        known += [o for o in __import__("gc").get_objects() if issubclass(type(o), Loop)]
    return list({id(loop): loop for loop in known if _is_open(loop, Loop)}.values())


def _is_open(loop, kind):
    return issubclass(type(loop), kind) and not loop.is_closed() and hasattr(loop._selector, "_selector")


def _idle_loop():
    """The descriptors of event loops, which are made anew. Their tasks and timers are in the memory."""
    try:
        return {s.fileno() for loop in _loops() for s in (loop._selector, loop._ssock, loop._csock)}
    except Exception:
        return set()


def _forget_loop():
    """The numbers of an event loop are the same, with new sockets and a new list of its descriptors. The threads of its
    executor are gone, and it makes others."""
    for loop in _loops():
        quietly(_renew_loop, loop)


def _renew_loop(loop):
    for new, old in zip(socket.socketpair(), (loop._ssock, loop._csock)):
        os.dup2(new.fileno(), old.fileno(), False)
        os.set_blocking(old.fileno(), False)
        new.close()
    for key in loop._selector.get_map().values():
        events = select.EPOLLIN * (key.events & 1) | select.EPOLLOUT * (key.events >> 1 & 1)
        quietly(loop._selector._selector.register, key.fd, events)
    loop._default_executor = None


def _is_idle(executor):
    try:
        return executor._work_queue.empty() and executor._idle_semaphore._value == len(executor._threads)
    except AttributeError:
        return False


def _word(path):
    try:
        with open(path) as f:
            return f.read().strip()
    except OSError:
        return "?"


def _threads():
    mine = str(threading.get_native_id())
    names = {str(t.native_id): t.name for t in threading.enumerate()}
    executors = [loop._default_executor for loop in _loops() if loop._default_executor]
    idle = {str(t.native_id) for e in executors if _is_idle(e) for t in e._threads}
    return [f"the thread {names.get(n) or _word(f'/proc/self/task/{n}/comm')}"
            for n in os.listdir("/proc/self/task") if n != mine and n not in idle]


def _children(writers):
    found, me = [], str(os.getpid())
    for name in os.listdir("/proc"):
        if not name.isdecimal() or name == me or int(name) in writers:
            continue
        try:
            with open(f"/proc/{name}/stat") as f:
                parent = f.read().rpartition(")")[2].split()[1]
        except OSError:
            continue
        if parent == me:
            found.append(f"the process {name} ({_word(f'/proc/{name}/comm')})")
    return found


def _renew():
    """Sources of randomness that know a fork by its process number, which is the same in every jar."""
    ssl = sys.modules.get("_ssl")
    if ssl:
        ssl.RAND_add(os.urandom(32), 32.0)


# ---- the two requests ----

_writers = set()


def write(session, message, strict, files, room):
    """Answers the request for an image. None: this process became it, with its own number of frames."""
    import time
    began = time.monotonic()
    if image is None:
        raise Refused("this version of Python has no images")
    if len(message.fds) < 2:
        raise Refused("the request came without its descriptors")
    fd, report, *bases = message.fds
    _writers.difference_update([pid for pid in _writers if image.reap(pid)])
    plan = Plan(session, message.fds)
    lost = plan.lost + _threads() + _children(_writers)
    if strict and lost:
        return {"refused": lost[:100]}
    _renew()  # the first use of OpenSSL makes a thousand objects: here, and not in every copy
    at, used = image.pack(fd, bases, room, lost) if files else (FILES_AT, 0)
    became, value, _ = image.write(fd, bases, used, at, room, report)
    if not became:
        _writers.add(value)
        return {"not_carried": lost[:100], "pause_us": int((time.monotonic() - began) * 1e6), "files_bytes": at - FILES_AT}
    plan.restore(value >> 32)
    message.fds.clear()  # they were the descriptors of the original
    _writers.clear()
    _forget_loop()
    _renew()
    session.pid, session.request = os.getpid(), 0
    session.channel.went_on(value & 0xffffffff)
    return None


def become(session, message, files):
    """Ends this process in favour of the image. Returns only if that is refused."""
    if image is None:
        raise Refused("this version of Python has no images")
    if not message.fds:
        raise Refused("the request came without its descriptor")
    fd, *bases = message.fds
    if files:
        os.chdir("/")
        image.unpack(fd, bases)
    image.become(fd, bases, session.channel.usable() << 32 | session.channel.sent())
