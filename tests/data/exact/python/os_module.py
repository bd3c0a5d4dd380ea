import os
print(os.name, os.sep, os.getcwd() == os.path.realpath("."), os.path.abspath("x").endswith("/x"), os.get_terminal_size.__name__)
try:
    os.get_terminal_size()
except OSError as e:
    print(e)
print(os.ttyname.__name__, os.isatty(0), os.device_encoding(0), os.cpu_count() > 0, oct(os.stat("main.py").st_mode))
