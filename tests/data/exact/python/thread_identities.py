import threading, os
m = threading.main_thread()
print(m.name, m.ident == threading.get_ident(), m.native_id == threading.get_native_id() == os.getpid(), m.daemon, m.is_alive(),
      threading.active_count(), threading.current_thread() is m, threading.stack_size(), [t.name for t in threading.enumerate()])
