"""The session program of Python: IPython's shell behind a channel at descriptor 3.

    python3 session.py"""
import os
import sys

CHANNEL_FD = 3


def load():
    """Our modules, from the folder of this file. It stands last in sys.path meanwhile, and not in it afterwards."""
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [p for p in sys.path if p not in (here, "")]
    sys.path.append(here)
    try:
        import belljar_channel
        try:
            import IPython  # noqa: F401
        except ImportError as e:
            text = f"sessions of Python need IPython, which cannot be imported ({e}); install it: apt-get install python3-ipython"
            print(text, file=sys.stderr, flush=True)
            belljar_channel.Channel(CHANNEL_FD).send(belljar_channel.NOTE, 0, [(belljar_channel.TEXT, text)])
            sys.exit(69)
        import belljar_session
        return belljar_session
    finally:
        sys.path.remove(here)


belljar_session = load()
belljar_session.set_environment()
# A zygote has made the session already.
belljar_session.run(getattr(belljar_session, "made", None) or belljar_session.make(), CHANNEL_FD)
