"""Forks of a session: the parts of a process that are not in its memory, before an image is written and after another
process became it.

The host gives the file of the image and a pipe for the writer's report. The module in C writes the files of /sandbox and
/tmp, and the memory behind them."""
import os
import select
import socket
import sys
import threading

from belljar_channel import PRIVATE_BUILTINS

try:
    import _belljar_image as image
except ImportError:  # another version of Python than the one that it was built for
    image = None

__builtins__ = PRIVATE_BUILTINS

FILES_AT = 4096  # the first page belongs to the module


class Refused(Exception):
    pass


def quietly(function, *args):
    try:
        function(*args)
    except OSError:
        pass


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
    if any(n not in numbers for n in _event_lists()):
        known += [o for o in __import__("gc").get_objects() if issubclass(type(o), Loop)]
    return list({id(loop): loop for loop in known if _is_open(loop, Loop)}.values())


def _event_lists():
    for name in os.listdir("/proc/self/fd"):
        try:
            if os.readlink(f"/proc/self/fd/{name}") == "anon_inode:[eventpoll]":
                yield int(name)
        except OSError:  # the list itself
            pass


def _is_open(loop, kind):
    return issubclass(type(loop), kind) and not loop.is_closed() and hasattr(loop._selector, "_selector")


def _losses_of(loops):
    """The names of the descriptors of event loops, which are made anew. Their tasks and timers are in the memory."""
    try:
        numbers = [s.fileno() for loop in loops for s in (loop._selector, loop._ssock, loop._csock)]
    except Exception:
        numbers = []
    return {f"a {kind} (descriptor {n})" for n in numbers for kind in ("socket", "kernel object")}


def _renew_loop(loop):
    """Its numbers are the same, with new sockets. The threads of its executor are gone, and it makes others."""
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


def _threads(loops):
    mine = str(threading.get_native_id())
    names = {str(t.native_id): t.name for t in threading.enumerate()}
    executors = [loop._default_executor for loop in loops if loop._default_executor]
    idle = {str(t.native_id) for e in executors if _is_idle(e) for t in e._threads}
    return [f"the thread {names.get(n) or _word(f'/proc/self/task/{n}/comm')}"
            for n in os.listdir("/proc/self/task") if n != mine and n not in idle]


def _renew():
    """Sources of randomness that know a fork by its process number, which is the same in every jar."""
    ssl = sys.modules.get("_ssl")
    if ssl:
        ssl.RAND_add(os.urandom(32), 32.0)


# ---- the two requests ----

_writers = set()


def _losses(session, message, loops):
    """The names of all things that the image will not carry. The module in C keeps the descriptors for it."""
    lost, threads = [], _threads(loops)
    image.take((0, session.out_fd, session.err_fd, session.channel.usable()), message.fds, not threads, lost)
    ours = _losses_of(loops)
    lost = [name for name in lost if name not in ours] + threads
    image.children(lost, list(_writers))
    return lost


def write(session, message, strict, files, room):
    """Answers the request for an image. None: this process became it, and has said that it is ready."""
    import time
    began = time.monotonic()
    if image is None:
        raise Refused("this version of Python has no images")
    if len(message.fds) < 2:
        raise Refused("the request came without its descriptors")
    fd, report, *bases = message.fds
    _writers.difference_update([pid for pid in _writers if image.reap(pid)])
    loops = _loops()
    lost = _losses(session, message, loops)
    if strict and lost:
        return {"refused": lost[:100]}
    _renew()  # the first use of OpenSSL makes a thousand objects: here, and not in every copy
    at, used = image.pack(fd, bases, room, lost) if files else (FILES_AT, 0)
    became, value, _ = image.write(fd, bases, used, at, room, report)
    if not became:
        _writers.add(value)
        return {"not_carried": lost[:100], "pause_us": int((time.monotonic() - began) * 1e6), "files_bytes": at - FILES_AT}
    message.fds.clear()  # they were the descriptors of the original
    _writers.clear()
    session.pid, session.request = os.getpid(), 0
    session.channel.went_on(value)
    session.ready()  # the host takes its time for the next request; no code of the guest runs meanwhile
    image.freshen()
    for loop in loops:
        quietly(_renew_loop, loop)
    _renew()
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
