#include "runtime/language.h"

/* Unbuffered, so that a run that is killed keeps what it printed. No .pyc files: /sandbox holds what the program
 * made. */
#define UNBUFFERED  "PYTHONUNBUFFERED=1"
#define NO_BYTECODE "PYTHONDONTWRITEBYTECODE=1"

static const char *const driver[] = { "belljar-python.so", NULL };
/* The most frequent command line: what a process says of itself in /proc is then right without any doing. */
static const char *const argv[] = { "/usr/bin/python3", "main.py", NULL };

/* What is imported in advance is in sys.modules, and else makes no difference: a file of the guest's with one of these
 * names, and the run is a bare interpreter's. Not logging: it would be the first to register with atexit. */
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
#define DATA_REHEARSAL                   \
    "import numpy as np, pandas as pd\n" \
    "print(np.arange(3.).sum())\n"       \
    "pd.DataFrame({'a': [1]})\n"
/* One thread: a zygote with more could not be forked. */
#define ONE_THREAD "OPENBLAS_NUM_THREADS=1", "OMP_NUM_THREADS=1"

static const struct warm warm[] = {
    { .zygote = { .name = "python-data",
                  .files = driver,
                  .argv = argv,
                  .env = (const char *const[]){ UNBUFFERED, NO_BYTECODE, ONE_THREAD,
                                                "BELLJAR_PRELOAD=" DATA_PRELOAD,
                                                "BELLJAR_REHEARSAL=" DATA_REHEARSAL, NULL } },
      .imports = data_imports,
      .large = true },
    { .zygote = { .name = "python-std",
                  .files = driver,
                  .argv = argv,
                  .env = (const char *const[]){ UNBUFFERED, NO_BYTECODE,
                                                "BELLJAR_PRELOAD=" STD_PRELOAD, NULL } },
      .imports = std_imports },
    { .zygote = { .name = "python",
                  .files = driver,
                  .argv = argv,
                  .env = (const char *const[]){ UNBUFFERED, NO_BYTECODE, NULL } } },
    { .imports = NULL },
};

/* What the interpreter, the C library, or a module that is imported in advance looks at once. */
static const char *const cold_env[] = { "PYTHON*",     "LANG",       "LANGUAGE",        "LC_*",
                                        "LD_*",        "GLIBC_*",    "MALLOC_*",        "HOME",
                                        "XDG_*",       "DISPLAY",    "WAYLAND_DISPLAY", "MPL*",
                                        "MATPLOTLIB*", "OPENBLAS_*", "GOTO_*",          "OMP_*",
                                        "GOMP_*",      "KMP_*",      "MKL_*",           "BLIS_*",
                                        "NUMEXPR_*",   "NPY_*",      "NUMPY_*",         "SCIPY_*",
                                        "PANDAS_*",    "PLOTLY_*",   "OPENSSL_*",       "SSL_*",
                                        NULL };

extern const struct language language_python;
const struct language language_python = {
    .name = "python",
    .aliases = (const char *const[]){ "py", "python3", NULL },
    .extensions = (const char *const[]){ ".py", NULL },
    .main_file = "main.py",
    .command = (const char *const[]){ "/usr/bin/python3", FILE_ARGUMENT, NULL },
    .profile = (const char *const[]){ "/usr/bin/python3", "{guest}/python/profile.py",
                                      FILE_ARGUMENT, NULL },
    .env = (const char *const[]){ UNBUFFERED, NO_BYTECODE, NULL },
    .version = (const char *const[]){ "/usr/bin/python3", "--version", NULL },
    .install = "apt-get install python3",
    .warm = warm,
    .cold_env = cold_env,
    .hints = (const char *const[]){ "^import ",
                                    "!^import numpy",
                                    "!^import pandas",
                                    "!^import asyncio",
                                    "!^import sys",
                                    "!^import os",
                                    "! import ",
                                    "!^from __future__",
                                    "^def ",
                                    "!~):",
                                    "!^elif ",
                                    "!^except",
                                    "^class ",
                                    "^print(",
                                    "!^if __name__",
                                    "!^with open",
                                    "^try:",
                                    "^else:",
                                    "!^from typing",
                                    "!^def __",
                                    "self.",
                                    "!self, ",
                                    "!in range(",
                                    "!f\"",
                                    "print(f",
                                    "^@",
                                    "^pass",
                                    "lambda ",
                                    "!__init__",
                                    "input()",
                                    "!^async def ",
                                    "None",
                                    "True",
                                    "False",
                                    "^while ",
                                    "~ 0:",
                                    "!~]:",
                                    "!^raise ",
                                    "!exec(compile(",
                                    "!^import subprocess",
                                    "!^import re",
                                    "!^import json",
                                    "!^import time",
                                    "!^import random",
                                    "!^import math",
                                    NULL },
};
