"""Runs a program as a cell of a session, and leaves its displays in the report (src/run/reports.h).

    python3 display.py FILE ARG...

The program has IPython's magics, `await` and `display`; the value of its last expression is its last display. Standard
streams, arguments, errors and the exit status are those of `python3 FILE ARG...`."""
import os
import sys


def load():
    """Our modules; their folder is not in sys.path afterwards."""
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [p for p in sys.path if p not in (here, "")]
    sys.path.append(here)
    try:
        import IPython  # noqa: F401
        import belljar_display
        return belljar_display
    except ImportError as e:
        print(f"displays of Python need IPython, which cannot be imported ({e}); install it: apt-get install python3-ipython",
              file=sys.stderr)
        sys.exit(69)
    finally:
        sys.path.remove(here)


load().run(sys.argv[1:])
