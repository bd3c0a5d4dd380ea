/* runtime/python/lang.c — the declaration of python; see runtime/language.h. Pure data. */
#include "runtime/language.h"

/* Unbuffered, so that a killed run keeps its output. No .pyc files, so that /sandbox holds only
 * files of the program. */
#define UNBUFFERED  "PYTHONUNBUFFERED=1"
#define NO_BYTECODE "PYTHONDONTWRITEBYTECODE=1"

static const char *const driver[] = { "belljar-python.so", NULL };
/* The most frequent command line. The process then shows the right one in /proc without any
 * work. */
static const char *const argv[] = { "/usr/bin/python3", "main.py", NULL };
static const char *const session_argv[] = { "/usr/bin/python3", "/opt/belljar/python/session.py",
                                            NULL };

/* A module that is imported in advance is visible in sys.modules and nowhere else. If the guest has
 * a file with one of these names, a bare interpreter runs it. logging is not in the list: it would
 * be the first to register with atexit. */
static const char *const std_imports[] = {
    "argparse",  "base64",     "bisect",      "collections", "copy",     "csv",      "dataclasses",
    "datetime",  "decimal",    "enum",        "fractions",   "hashlib",  "heapq",    "inspect",
    "json",      "math",       "pathlib",     "pprint",      "random",   "re",       "secrets",
    "shutil",    "statistics", "string",      "struct",      "tempfile", "textwrap", "threading",
    "traceback", "typing",     "unicodedata", "urllib",      "uuid",     NULL
};
#define STD_PRELOAD                                                                             \
    "argparse base64 bisect collections collections.abc copy csv dataclasses datetime decimal " \
    "enum "                                                                                     \
    "fractions hashlib heapq inspect json math pathlib pprint random re secrets shutil "        \
    "statistics "                                                                               \
    "string struct tempfile textwrap threading traceback typing unicodedata urllib.parse uuid"

static const char *const data_imports[] = { "matplotlib", "numpy",   "pandas", "plotly",
                                            "scipy",      "seaborn", NULL };
#define DATA_PRELOAD                                                                        \
    "numpy numpy.random numpy.linalg pandas scipy scipy.linalg scipy.sparse scipy.special " \
    "scipy.stats scipy.optimize matplotlib matplotlib.pyplot plotly"
#define DATA_SAMPLE                      \
    "import numpy as np, pandas as pd\n" \
    "print(np.arange(3.).sum())\n"       \
    "pd.DataFrame({'a': [1]})\n"
/* The zygote of sessions has made IPython's shell and used each part of it once. matplotlib and
 * plotly read their variables when they are imported. */
#define SESSION_ENV                                                                                \
    "BELLJAR_SESSION=/opt/belljar/python", "MPLBACKEND=module://matplotlib_inline.backend_inline", \
        "PLOTLY_RENDERER=plotly_mimetype",                                                         \
        "BELLJAR_SAMPLE=import belljar_warm\nbelljar_warm.probe()\n"
/* The imports of a session's cells are not known in advance. An idle session shares these pages
 * with the zygote and costs no more than without them. */
#define SESSION_PRELOAD "numpy pandas matplotlib matplotlib.pyplot plotly"
/* One thread, because a zygote with more cannot be forked. */
#define ONE_THREAD      "OPENBLAS_NUM_THREADS=1", "OMP_NUM_THREADS=1"

static const struct warm warm[] = {
    { .zygote = { .name = "python-data",
                  .files = driver,
                  .argv = argv,
                  .env = WORDS(UNBUFFERED, NO_BYTECODE, ONE_THREAD, "BELLJAR_PRELOAD=" DATA_PRELOAD,
                               "BELLJAR_SAMPLE=" DATA_SAMPLE),
                  .tells = true },
      .imports = data_imports,
      .large = true },
    { .zygote = { .name = "python-std",
                  .files = driver,
                  .argv = argv,
                  .env = WORDS(UNBUFFERED, NO_BYTECODE, "BELLJAR_PRELOAD=" STD_PRELOAD),
                  .tells = true },
      .imports = std_imports },
    { .zygote = { .name = "python",
                  .files = driver,
                  .argv = argv,
                  .env = WORDS(UNBUFFERED, NO_BYTECODE),
                  .tells = true } },
    { .zygote = { .name = "python-session",
                  .files = driver,
                  .argv = session_argv,
                  .env = WORDS(UNBUFFERED, NO_BYTECODE, ONE_THREAD, SESSION_ENV,
                               ("BELLJAR_PRELOAD=" SESSION_PRELOAD)),
                  .terminals = true },
      .large = true,
      .session = true },
    { .zygote = { .name = "python-image",
                  .files = WORDS("belljar-image.so"),
                  .argv = session_argv,
                  .env = NO_WORDS,
                  .terminals = true },
      .session = true,
      .image = true },
    { .imports = NULL },
};

/* Variables that the interpreter, the C library, or a module imported in advance reads only
 * once. */
static const char *const cold_env[] = { "PYTHON*",     "LANG",       "LANGUAGE",        "LC_*",
                                        "LD_*",        "GLIBC_*",    "MALLOC_*",        "HOME",
                                        "XDG_*",       "DISPLAY",    "WAYLAND_DISPLAY", "MPL*",
                                        "MATPLOTLIB*", "OPENBLAS_*", "GOTO_*",          "OMP_*",
                                        "GOMP_*",      "KMP_*",      "MKL_*",           "BLIS_*",
                                        "NUMEXPR_*",   "NPY_*",      "NUMPY_*",         "SCIPY_*",
                                        "PANDAS_*",    "PLOTLY_*",   "OPENSSL_*",       "SSL_*",
                                        NULL };

/* matplotlib reads all fonts of the machine when it is first imported, and keeps a list of them. It
 * ignores a list of another version. */
static const struct home_seed fonts = {
    .imports = WORDS("matplotlib", "pylab", "seaborn"),
    .from = "matplotlib",
    .to = ".cache/matplotlib",
    .unless = WORDS("HOME", "XDG_CACHE_HOME", "MPLCONFIGDIR"),
};

DECLARE_LANGUAGE(python) = {
    NAMED("python", "main.py", WORDS(".py"), WORDS("py", "python3")),
    .command = WORDS("/usr/bin/python3", FILE_ARGUMENT),
    .profile = WORDS("/usr/bin/python3", "{guest}/python/profile.py", FILE_ARGUMENT),
    .session = WORDS("/usr/bin/python3", "{guest}/python/session.py"),
    .cell_name = "<cell #>",
    .forks = true,
    .rests = true,
    .whereabouts = true,
    .values = true,
    .values_command = WORDS("/usr/bin/env", "LD_PRELOAD={guest}/python/values.so",
                            "/usr/bin/python3", FILE_ARGUMENT),
    .display = WORDS("/usr/bin/python3", "{guest}/python/display.py", FILE_ARGUMENT),
    .env = WORDS(UNBUFFERED, NO_BYTECODE),
    .version = WORDS("/usr/bin/python3", "--version"),
    .install = "apt-get install python3",
    .seeded = true,
    .seed_sources = WORDS("/usr/lib/python3/dist-packages/matplotlib", "/usr/share/fonts",
                          "/usr/share/fonts/truetype"),
    .home_seed = &fonts,
    .warm = warm,
    .cold_env = cold_env,
    .prompts = WORDS("!>>> ", "... ", "!In [#]: ", "...: "),
    .session_names = WORDS("pycon", "python-repl", "ipython"),
    .in_dicts = true,
    .hints = WORDS(
        "^import ", "!^import numpy", "!^import pandas", "!^import asyncio", "!^import sys",
        "!^import os", "!^import re", "!^import json", "!^import time", "!^import random",
        "!^import math", "!^import subprocess", "!^import sqlite3", "!^import collections",
        "!^import itertools", "!^import datetime", "!^import csv", "!^import string",
        "!^import requests", "!^import matplotlib", "!^from collections", "!^from dataclasses",
        "!^from datetime", "!^from functools", "!^from typing", "!^from __future__", "! import ",
        "!^def __", "!^async def ", "!^async with ", "^def ", "^class ", "^print(", "^try:",
        "^else:", "^finally:", "!~):", "!~]:", "!~ 0:", "!~ 1:", "!~ True:", "!^elif ", "!^except",
        "!^if __name__", "!^with open", "!^raise ", "!^assert ", "!^nonlocal ", "!^global ",
        "^yield ", "^return ", "^pass", "^@", "^while ", "^for ", "self.", "!self, ", "!(self)",
        "!in range(", "! in enumerate(", "!.items():", " not in ", " is not ", "!print(f",
        "!, end=", "! for x in ", "! for i in ", "! if __", "!__init__", "!__name__", " ** ",
        "!int(input(", "!np.", "!pd.", "!plt.", "!.append(", "!.strip()", "!.format(", "len(",
        "!None", "! True", "! False", "!=True", "!=False", " and not ", "!\"\"\"", "!exec(compile(",
        "! -> None:", "!: list[", "!: dict[", "|#", "-~) {", "-~;", "-|end", "-~ then", "- <- ",
        "-in 1:", "-(1:", "-^$", "-^for (", "-^local ", "-function(", "-^def self.", "-^func ",
        "-^let ", "-^const ", "- .. ", "- && ", "!\".join(", "!'.join(", "!lambda x", "!lambda a",
        "lambda ", "!: int)", "!: int,", "!: int =", "!: str)", "!: str,", "!: str =", "!(f\"",
        "!(f'", "! f\"", "! f'", "!= input(", "!= []", "^if ", "^print", "-^echo ", "-^Traceback ",
        "-^File \"", "!zip(", "!sorted(", "!isinstance(", "!list(range", "!list(map", "!+ str("),
};
