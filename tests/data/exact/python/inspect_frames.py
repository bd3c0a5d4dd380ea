import sys
f = sys._getframe()
print(f.f_code.co_name, f.f_code.co_filename, f.f_lineno, f.f_back, f.f_globals is globals(), f.f_locals is globals(), f.f_builtins is vars(__builtins__))
print(f.f_code.co_flags, f.f_code.co_names[:3], f.f_code.co_qualname, f.f_code.co_firstlineno, f.f_trace)
