"""SIGINT, and bounds on the time of guest code that answers a question."""
import _signal as raw  # without the conversions to enumerations
import signal
import time

from belljar_channel import PRIVATE_BUILTINS

__builtins__ = PRIVATE_BUILTINS

_signal, _setitimer, _mask, _monotonic = raw.signal, raw.setitimer, raw.pthread_sigmask, time.monotonic
SIGINT, SIGALRM = int(signal.SIGINT), int(signal.SIGALRM)


# The interpreter loses the first signal if it comes right before a system call that blocks. So the host sends each
# interrupt twice, and the second one must not disturb a cell that handles the first.
SAME_S = 0.25


class OutOfTime(BaseException):
    pass


class Interrupts:
    """Raises KeyboardInterrupt in a cell for SIGINT. Between cells, and while an error is reported, SIGINT does nothing."""

    def __init__(self):
        self.armed = False
        self.count = 0  # in this cell
        self.last = 0.0  # when the last one was raised

    def _on_sigint(self, _number, _frame):
        self.count += 1
        now = _monotonic()
        if self.armed and now - self.last > SAME_S:
            self.last = now
            raise KeyboardInterrupt

    def install(self):
        """Again before each cell: the last one may have installed a handler of its own, or blocked the signal."""
        _signal(SIGINT, self._on_sigint)
        _mask(raw.SIG_UNBLOCK, (SIGINT,))

    def arm(self):
        self.count, self.last = 0, 0.0
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
