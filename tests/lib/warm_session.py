"""Runs the session program of Python in a child of a process that has made the session, as a zygote does.

    python3 warm_session.py GUEST [MODULE...]

GUEST is the folder of the session program. The modules are imported in advance."""
import gc
import os
import runpy
import sys

guest = sys.argv[1]
for name in sys.argv[2:]:
    __import__(name)
sys.path.append(guest)
import belljar_warm  # noqa: E402

sys.path.remove(guest)
belljar_warm.make()
gc.collect()
gc.freeze()
if os.fork():
    os.close(3)
    os.wait()
    os._exit(0)
sys.argv[:] = [guest + "/session.py"]
runpy.run_path(sys.argv[0], run_name="__main__")
