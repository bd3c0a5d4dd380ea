"""Makes the session of a zygote: the shell is there, and each part of it has been used once. An embryo goes on with it."""
import gc
import os
import struct
import sys

import belljar_image
import belljar_session
from belljar_channel import CODE, COMPLETE, CURSOR, EXEC, INSPECT, VARIABLES, Message

CELLS = (
    "1 + 1",
    "x = [1, 2]; x",
    "print('text')",
    "def f(a):\n    return 1 / a\nf(0)",
    "def f(:",
    "from IPython.display import HTML, display\ndisplay(HTML('<b>x</b>'))",
    "%who_ls",
    "import asyncio\nawait asyncio.sleep(0)",
    "class A:\n    def _repr_html_(self): return 'a'\nA()",
)
DATA_CELLS = (
    "import numpy as np, pandas as pd\nnp.arange(3.) * 2",
    "df = pd.DataFrame({'a': [1, 2, 3], 'b': [2.5, 1.5, 0.5]}); df",
    "import matplotlib.pyplot as plt\ndf.plot();",
    "plt.plot([1, 2], [3, 4]); plt.title('t'); plt.show()",
    "df['a'].sum(), df.describe()",
)
SAMPLE_CELLS = ("x = 1 + 1\nx", "print('text')", "1 / 0")


class Nowhere:
    """In place of a channel."""

    def send(self, *_):
        pass

    def wait_until_taken(self):
        pass


def message(kind, **fields):
    parts = b""
    for tag, value in fields.items():
        parts += struct.pack("<HHI", {"code": CODE, "cursor": CURSOR}[tag], 0, len(value)) + value.encode()
    return Message(kind, 1, parts)


def exercise(session, cells):
    session.channel, session.pid, session.request, session.main_thread = Nowhere(), os.getpid(), 1, 0
    session.out, session.err, session.replaced = sys.stdout, sys.stderr, {}
    session.out_fd, session.err_fd = 1, 2
    for cell in cells:
        session.run_cell(message(EXEC, code=cell))


def forget(session):
    """Nothing of the exercise is left for the first cell to see."""
    import asyncio
    import linecache

    from IPython.core import async_helpers
    shell = session.shell
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
        sys.modules["matplotlib.font_manager"]._get_font.cache_clear()  # its fonts are open files
    shell.reset(new_session=False)
    shell.execution_count = 1
    shell.told, shell.shown = None, []
    shell.last_execution_result, shell.last_execution_succeeded = None, True
    history = shell.history_manager
    history.reset(new_session=False)
    history.input_hist_parsed[:] = history.input_hist_raw[:] = [""]
    history._i00 = history._i = history._ii = history._iii = ""
    for cache in (linecache.cache, linecache._ipython_cache):
        for name in [name for name in cache if name.startswith("<cell ")]:
            del cache[name]
    shell.compile._filename_map.clear()
    for name in ("last_type", "last_value", "last_traceback"):
        if hasattr(sys, name):
            delattr(sys, name)
    if async_helpers._asyncio_event_loop is not None:
        async_helpers._asyncio_event_loop.close()
        async_helpers._asyncio_event_loop = None
        asyncio.set_event_loop(None)
    session.channel, session.request, session.leaving = None, 0, False


def open_files():
    """An embryo has the numbers of these files for others."""
    found = set()
    for number in os.listdir("/proc/self/fd"):
        try:
            found.add(f"{number} {os.readlink('/proc/self/fd/' + number)}")
        except OSError:  # the directory itself
            pass
    return found


def make_generator():
    """OpenSSL makes its generator at the first use, which takes 5 ms. A fork of a session would pay for it. Embryos renew
    the generator by themselves, because their process number is another one."""
    ssl = sys.modules.get("_ssl")
    if ssl:
        ssl.RAND_bytes(1)


def make():
    """In the zygote. Libraries for data were imported in advance, or are not used."""
    before = open_files()
    session = belljar_session.make()
    exercise(session, CELLS + (DATA_CELLS if "pandas" in sys.modules and "matplotlib" in sys.modules else ()))
    session.answer(message(COMPLETE, code="pri", cursor="3"))
    session.answer(message(INSPECT, code="print", cursor="5"))
    session.answer(message(VARIABLES))
    forget(session)
    make_generator()
    if belljar_image.image:
        belljar_image.image.find()
    gc.collect()
    left = open_files() - before
    if left:
        raise RuntimeError(f"files are left open: {', '.join(sorted(left))}")
    belljar_session.made = session


def probe():
    """In a child of the zygote: cells as most sessions begin with."""
    exercise(belljar_session.made, SAMPLE_CELLS)
