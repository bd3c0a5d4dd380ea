"""A warm guest attacks itself and everything that it can reach, and ends only itself. The verdict is the right one,
the pool stays whole, and the next guest finds no trace."""

import pytest

import warm

NEXT = "import os\nprint(sorted(os.listdir('/sandbox')), os.listdir('/tmp'), os.listdir('/dev/shm'), os.getpid() > 1)"
CLEAN = "['main.py'] [] [] True\n"
ESCAPED = """\
import os, time
for _ in range(2):
    if os.fork(): os._exit(0)
    os.setsid()
for fd in range(3): os.close(fd)
time.sleep(600)"""

TRY = "import os\ndef tried(*a):\n    try: os.kill(*a)\n    except OSError: pass\n"

VIOLENCE = {
    "memory": ("x = []\nwhile True: x.append(bytearray(1 << 20))", {"memory": 32 << 20}, {"memory_limit"}),
    "kill everything": (TRY + "tried(-1, 9)\nprint('still here')", {}, {"ok"}),
    "kill pid 1": (TRY + "for n in (9, 15, 19, 2, 6, 11):\n    tried(1, n)\nprint('still here')", {}, {"ok"}),
    "kill itself": ("import os\nos.kill(os.getpid(), 9)", {}, {"runtime_error"}),
    "stop itself": ("import os\nos.kill(os.getpid(), 19)", {"wall_ms": 500}, {"timeout"}),
    "close its pipes": ("import os\nos.closerange(0, 1024)\nos._exit(7)", {}, {"runtime_error"}),
    "close its pipes and go on": ("""\
import os, time
os.closerange(0, 1024)
time.sleep(600)""", {"wall_ms": 500}, {"timeout"}),
    "garbage on every descriptor": ("""\
import os
for fd in range(1024):
    for r in range(8):
        try: os.write(fd, bytes([r]) * 512)
        except OSError: pass""",
                                    {}, {"ok"}),
    "fork away": (ESCAPED, {}, {"ok"}),
    "fork bomb": ("""\
import os
while True:
    try: os.fork()
    except OSError: pass""", {"wall_ms": 500}, {"timeout", "process_limit"}),
    "ignore every signal": ("""\
import signal, time
for n in range(1, 65):
    try: signal.signal(n, signal.SIG_IGN)
    except (OSError, ValueError): pass
time.sleep(600)""",
                            {"wall_ms": 500}, {"timeout"}),
    "threads": ("""\
import threading, time
for _ in range(20): threading.Thread(target=time.sleep, args=(600,), daemon=True).start()
import os
os._exit(3)""", {}, {"runtime_error"}),
    "leave files": ("""\
import os
for d in ('/tmp', '/sandbox', '/dev/shm'):
    for i in range(50): open(f'{d}/{i}', 'w').write('mine')""", {}, {"ok"}),
}


@pytest.mark.parametrize("what", VIOLENCE)
def test_warm_guest_harms_only_itself(pooled, what):
    code, limits, verdicts = VIOLENCE[what]
    deaths = {k: p["deaths"] for k, p in warm.pools(pooled).items()}
    r = warm.run(pooled, code, limits=limits)
    assert r["verdict"] in verdicts, r
    assert "still here" not in code or r["stdout"] == "still here\n", r
    after = warm.run(pooled, NEXT)
    assert (after["verdict"], after["stdout"]) == ("ok", CLEAN), after
    assert {k: p["deaths"] for k, p in warm.pools(pooled).items()} == deaths


@pytest.mark.parametrize("code", [125, 126, 127, 137, 124])
def test_warm_exit_status_is_no_verdict(pooled, code):
    """The exit status of an embryo's own failure means nothing once guest code runs."""
    r = warm.run(pooled, f"import os\nos._exit({code})")
    assert (r["verdict"], r["exit_code"]) == ("runtime_error", code), r
