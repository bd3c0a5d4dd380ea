import threading
threading._register_atexit(print, "threading's own")
import atexit
atexit.register(print, "atexit's")
