code = "def f():\n    raise ValueError('from a string')\nf()\n"
exec(compile(code, "<made up>", "exec"))
