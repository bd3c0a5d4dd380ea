"""SIGINT, and bounds on the time of guest code that answers a question."""
import _signal as raw  # without the conversions to enumerations
import signal
import time

from belljar_channel import PRIVATE_BUILTINS

__builtins__ = PRIVATE_BUILTINS

_signal, _getsignal, _setitimer, _mask, _monotonic = raw.signal, raw.getsignal, raw.setitimer, raw.pthread_sigmask, time.monotonic
SIGINT, SIGURG, SIGALRM = int(signal.SIGINT), int(signal.SIGURG), int(signal.SIGALRM)

SAME_S = 0.25  # two SIGINTs within this time are one
AGAIN_S = 2.0  # a cell that goes on for so long after an interrupt gets another: a bare `except:` swallowed the first


class OutOfTime(BaseException):
    pass


class Interrupts:
    """Raises KeyboardInterrupt in a cell. Between cells, and while an error is reported, an interrupt does nothing.

    SIGINT is an interrupt. It may be lost: it comes before the cell is armed, or right before a system call that blocks.
    So the warden reminds us with SIGURG until the cell is over: it wakes the system call, and it raises if nothing has been
    raised in this cell, or not for a while.

    In a `with` of this object no interrupt is raised: it comes at the end. Half a frame would end the session."""

    def __init__(self):
        self.armed = False  # set it without a call at the end of a cell: a call is a place where a signal is handled
        self.count = 0  # raised in this cell
        self.last = 0.0  # when the last one was raised
        self.held = self.late = False
        self.handler = self._on_sigint

    def _raise(self):
        if self.held:
            self.late = True
            return
        self.count += 1
        self.last = _monotonic()
        raise KeyboardInterrupt

    def _on_sigint(self, _number, _frame):
        if self.armed and _monotonic() - self.last > SAME_S:
            self._raise()

    def _on_reminder(self, _number, _frame):
        fresh = not self.count or _monotonic() - self.last > AGAIN_S
        if self.armed and fresh and _getsignal(SIGINT) is self.handler:  # a cell may have its own handler
            self._raise()

    def swallowed(self):
        """The last one ended nothing: the next reminder raises again."""
        self.last = -AGAIN_S

    def __enter__(self):
        self.held = True

    def __exit__(self, *_):
        self.held = False
        if self.late:
            self.late = False
            if self.armed:
                self._raise()

    def install(self):
        """Again before each cell: the last one may have installed a handler of its own, or blocked the signal."""
        _signal(SIGINT, self.handler)
        _signal(SIGURG, self._on_reminder)
        _mask(raw.SIG_UNBLOCK, (SIGINT, SIGURG))

    def arm(self):
        self.count, self.last = 0, 0.0
        self.held = self.late = False
        self.armed = True

    def disarm(self):
        self.armed = False


def _out_of_time(_number, _frame):
    raise OutOfTime


class Bounded:
    """In its `with`, code ends with OutOfTime after some seconds. A timer that a cell has set goes on afterwards."""

    def __init__(self, seconds):
        self.seconds = seconds

    def __enter__(self):
        self.began = _monotonic()
        self.handler = _signal(SIGALRM, _out_of_time)
        self.rest, self.interval = _setitimer(raw.ITIMER_REAL, self.seconds, self.seconds)
        _mask(raw.SIG_UNBLOCK, (SIGALRM,))
        return self

    def left(self):
        return self.began + self.seconds - _monotonic()

    def __exit__(self, kind, _value, _trace):
        while True:  # the timer may fire once more in here
            try:
                _setitimer(raw.ITIMER_REAL, 0)
                _signal(SIGALRM, self.handler if self.handler is not None else raw.SIG_DFL)
                break
            except OutOfTime:
                pass
        if self.rest:
            _setitimer(raw.ITIMER_REAL, max(0.001, self.rest - (_monotonic() - self.began)), self.interval)
        return kind is OutOfTime
