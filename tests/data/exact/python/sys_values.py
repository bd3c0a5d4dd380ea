import sys
for name in ("flags", "executable", "orig_argv", "argv", "path", "prefix", "base_prefix", "exec_prefix", "byteorder",
             "dont_write_bytecode", "version", "version_info", "hexversion", "api_version", "implementation", "maxsize",
             "platform", "platlibdir", "pycache_prefix", "warnoptions", "_xoptions", "float_info", "int_info", "hash_info",
             "thread_info", "path_hooks", "meta_path", "builtin_module_names", "copyright", "ps1", "ps2", "last_type", "tracebacklimit"):
    value = getattr(sys, name, "absent")
    print(name, [getattr(v, "__name__", type(v).__name__) for v in value] if name in ("path_hooks", "meta_path") else value)
print(sys.getrecursionlimit(), sys.getswitchinterval(), sys.getfilesystemencoding(), sys.getfilesystemencodeerrors(),
      sys.getdefaultencoding(), sys.getdlopenflags(), sys.gettrace(), sys.getprofile(), sys.is_finalizing(),
      sys.get_int_max_str_digits(), sys.get_asyncgen_hooks(), sys.get_coroutine_origin_tracking_depth())
print(sys.breakpointhook is sys.__breakpointhook__, sys.excepthook is sys.__excepthook__, sys.displayhook is sys.__displayhook__,
      sys.unraisablehook is sys.__unraisablehook__, sys.stdin is sys.__stdin__, sys.stdout is sys.__stdout__, sys.stderr is sys.__stderr__)
