/* Rules for modules that cannot be imported, and for names to import from them. Runs in: keeper. */
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "diagnose/python/python.h"

const char *const py_builtins[] = {
    "abs",          "all",       "any",      "ascii",      "bin",          "bool",
    "breakpoint",   "bytearray", "bytes",    "callable",   "chr",          "classmethod",
    "compile",      "complex",   "delattr",  "dict",       "dir",          "divmod",
    "enumerate",    "eval",      "exec",     "filter",     "float",        "format",
    "frozenset",    "getattr",   "globals",  "hasattr",    "hash",         "help",
    "hex",          "id",        "input",    "int",        "isinstance",   "issubclass",
    "iter",         "len",       "list",     "locals",     "map",          "max",
    "memoryview",   "min",       "next",     "object",     "oct",          "open",
    "ord",          "pow",       "print",    "property",   "range",        "repr",
    "reversed",     "round",     "set",      "setattr",    "slice",        "sorted",
    "staticmethod", "str",       "sum",      "super",      "tuple",        "type",
    "vars",         "zip",       "True",     "False",      "None",         "Exception",
    "ValueError",   "TypeError", "KeyError", "IndexError", "RuntimeError", NULL
};

const char *const py_stdlib[] = { "abc",
                                  "argparse",
                                  "array",
                                  "ast",
                                  "asyncio",
                                  "base64",
                                  "bisect",
                                  "calendar",
                                  "cmath",
                                  "codecs",
                                  "collections",
                                  "concurrent",
                                  "configparser",
                                  "contextlib",
                                  "copy",
                                  "csv",
                                  "ctypes",
                                  "dataclasses",
                                  "datetime",
                                  "decimal",
                                  "difflib",
                                  "dis",
                                  "email",
                                  "enum",
                                  "errno",
                                  "fnmatch",
                                  "fractions",
                                  "functools",
                                  "gc",
                                  "getpass",
                                  "glob",
                                  "gzip",
                                  "hashlib",
                                  "heapq",
                                  "hmac",
                                  "html",
                                  "http",
                                  "importlib",
                                  "inspect",
                                  "io",
                                  "ipaddress",
                                  "itertools",
                                  "json",
                                  "keyword",
                                  "locale",
                                  "logging",
                                  "math",
                                  "mimetypes",
                                  "multiprocessing",
                                  "numbers",
                                  "operator",
                                  "os",
                                  "pathlib",
                                  "pickle",
                                  "platform",
                                  "pprint",
                                  "queue",
                                  "random",
                                  "re",
                                  "secrets",
                                  "select",
                                  "selectors",
                                  "shelve",
                                  "shlex",
                                  "shutil",
                                  "signal",
                                  "socket",
                                  "sqlite3",
                                  "ssl",
                                  "stat",
                                  "statistics",
                                  "string",
                                  "struct",
                                  "subprocess",
                                  "sys",
                                  "tempfile",
                                  "textwrap",
                                  "threading",
                                  "time",
                                  "timeit",
                                  "token",
                                  "tokenize",
                                  "traceback",
                                  "types",
                                  "typing",
                                  "unicodedata",
                                  "unittest",
                                  "urllib",
                                  "uuid",
                                  "warnings",
                                  "weakref",
                                  "xml",
                                  "zipfile",
                                  "zlib",
                                  NULL };

/* The name to import, and the name of the package to install. */
static const struct {
    const char *module, *package;
} packages[] = {
    { "cv2", "opencv-python" },
    { "PIL", "pillow" },
    { "sklearn", "scikit-learn" },
    { "skimage", "scikit-image" },
    { "yaml", "pyyaml" },
    { "bs4", "beautifulsoup4" },
    { "dateutil", "python-dateutil" },
    { "dotenv", "python-dotenv" },
    { "Crypto", "pycryptodome" },
    { "serial", "pyserial" },
    { "docx", "python-docx" },
    { "pptx", "python-pptx" },
    { "fitz", "pymupdf" },
    { "jwt", "pyjwt" },
    { "magic", "python-magic" },
    { "MySQLdb", "mysqlclient" },
    { "psycopg2", "psycopg2-binary" },
    { "OpenSSL", "pyopenssl" },
    { "attr", "attrs" },
    { "git", "gitpython" },
    { "win32api", "pywin32" },
    { "googleapiclient", "google-api-python-client" },
    { "telegram", "python-telegram-bot" },
    { "discord", "discord.py" },
    { "slugify", "python-slugify" },
    { "Levenshtein", "python-Levenshtein" },
    { "jose", "python-jose" },
    { "multipart", "python-multipart" },
    { "usb", "pyusb" },
    { "zmq", "pyzmq" },
    { "faiss", "faiss-cpu" },
    { "tensorflow", "tensorflow" },
    { "torch", "torch" },
    { "numpy", "numpy" },
    { "pandas", "pandas" },
    { "scipy", "scipy" },
    { "matplotlib", "matplotlib" },
    { "seaborn", "seaborn" },
    { "requests", "requests" },
    { "flask", "flask" },
    { "django", "django" },
    { "fastapi", "fastapi" },
    { "pydantic", "pydantic" },
    { "sqlalchemy", "sqlalchemy" },
    { "tqdm", "tqdm" },
    { "pytest", "pytest" },
    { "httpx", "httpx" },
    { "aiohttp", "aiohttp" },
    { "selenium", "selenium" },
    { "lxml", "lxml" },
    { "openpyxl", "openpyxl" },
    { "plotly", "plotly" },
    { "transformers", "transformers" },
    { "openai", "openai" },
    { "nltk", "nltk" },
    { "spacy", "spacy" },
    { "sympy", "sympy" },
    { "networkx", "networkx" },
    { "rich", "rich" },
    { "click", "click" },
    { "redis", "redis" },
    { "pymongo", "pymongo" },
    { "boto3", "boto3" },
    { "jinja2", "jinja2" },
    { "tabulate", "tabulate" },
    { "colorama", "colorama" },
    { "xgboost", "xgboost" },
    { "psutil", "psutil" },
    { "cryptography", "cryptography" },
    { "polars", "polars" },
};

/* Modules of Python 2, and their present names. */
static const struct {
    const char *old, *now;
} renamed[] = {
    { "urllib2", "urllib.request" },
    { "urlparse", "urllib.parse" },
    { "ConfigParser", "configparser" },
    { "StringIO", "io" },
    { "cStringIO", "io" },
    { "Queue", "queue" },
    { "cPickle", "pickle" },
    { "httplib", "http.client" },
    { "HTMLParser", "html.parser" },
    { "Tkinter", "tkinter" },
    { "BeautifulSoup", "bs4" },
    { "SocketServer", "socketserver" },
    { "thread", "threading" },
    { "commands", "subprocess" },
    { "imp", "importlib" },
    { "distutils", "setuptools" },
    { "__builtin__", "builtins" },
    { "cookielib", "http.cookiejar" },
};

/* Modules of the standard library that can replace a package in many programs. */
static const struct {
    const char *module, *instead;
} instead[] = {
    { "requests", "urllib.request" },
    { "numpy", "math and statistics" },
    { "pytz", "zoneinfo" },
    { "simplejson", "json" },
    { "pandas", "csv and statistics" },
    { "dateutil", "datetime" },
    { "toml", "tomllib" },
    { "attr", "dataclasses" },
    { "termcolor", "ANSI codes printed by hand" },
    { "pytest", "unittest" },
    { "click", "argparse" },
    { "httpx", "urllib.request" },
};

/* Names that programs use without their import. */
static const struct {
    const char *name, *statement;
} imports[] = {
    { "np", "import numpy as np" },
    { "pd", "import pandas as pd" },
    { "plt", "import matplotlib.pyplot as plt" },
    { "sns", "import seaborn as sns" },
    { "tf", "import tensorflow as tf" },
    { "nn", "import torch.nn as nn" },
    { "F", "import torch.nn.functional as F" },
    { "ET", "import xml.etree.ElementTree as ET" },
    { "dt", "import datetime as dt" },
    { "sp", "import scipy as sp" },
    { "px", "import plotly.express as px" },
    { "BeautifulSoup", "from bs4 import BeautifulSoup" },
    { "Image", "from PIL import Image" },
    { "defaultdict", "from collections import defaultdict" },
    { "Counter", "from collections import Counter" },
    { "deque", "from collections import deque" },
    { "namedtuple", "from collections import namedtuple" },
    { "OrderedDict", "from collections import OrderedDict" },
    { "ChainMap", "from collections import ChainMap" },
    { "timedelta", "from datetime import timedelta" },
    { "timezone", "from datetime import timezone" },
    { "date", "from datetime import date" },
    { "Path", "from pathlib import Path" },
    { "dataclass", "from dataclasses import dataclass" },
    { "field", "from dataclasses import field" },
    { "asdict", "from dataclasses import asdict" },
    { "List", "from typing import List" },
    { "Dict", "from typing import Dict" },
    { "Tuple", "from typing import Tuple" },
    { "Set", "from typing import Set" },
    { "Optional", "from typing import Optional" },
    { "Union", "from typing import Union" },
    { "Any", "from typing import Any" },
    { "Callable", "from typing import Callable" },
    { "Iterable", "from typing import Iterable" },
    { "Iterator", "from typing import Iterator" },
    { "Generator", "from typing import Generator" },
    { "TypeVar", "from typing import TypeVar" },
    { "Protocol", "from typing import Protocol" },
    { "NamedTuple", "from typing import NamedTuple" },
    { "Literal", "from typing import Literal" },
    { "randint", "from random import randint" },
    { "choice", "from random import choice" },
    { "shuffle", "from random import shuffle" },
    { "uniform", "from random import uniform" },
    { "sqrt", "from math import sqrt" },
    { "ceil", "from math import ceil" },
    { "floor", "from math import floor" },
    { "pi", "from math import pi" },
    { "sin", "from math import sin" },
    { "cos", "from math import cos" },
    { "log", "from math import log" },
    { "gcd", "from math import gcd" },
    { "factorial", "from math import factorial" },
    { "inf", "from math import inf" },
    { "sleep", "from time import sleep" },
    { "perf_counter", "from time import perf_counter" },
    { "partial", "from functools import partial" },
    { "reduce", "from functools import reduce" },
    { "lru_cache", "from functools import lru_cache" },
    { "cache", "from functools import cache" },
    { "wraps", "from functools import wraps" },
    { "permutations", "from itertools import permutations" },
    { "combinations", "from itertools import combinations" },
    { "product", "from itertools import product" },
    { "chain", "from itertools import chain" },
    { "groupby", "from itertools import groupby" },
    { "accumulate", "from itertools import accumulate" },
    { "islice", "from itertools import islice" },
    { "heappush", "from heapq import heappush" },
    { "heappop", "from heapq import heappop" },
    { "heapify", "from heapq import heapify" },
    { "bisect_left", "from bisect import bisect_left" },
    { "bisect_right", "from bisect import bisect_right" },
    { "pprint", "from pprint import pprint" },
    { "deepcopy", "from copy import deepcopy" },
    { "ABC", "from abc import ABC" },
    { "abstractmethod", "from abc import abstractmethod" },
    { "Enum", "from enum import Enum" },
    { "auto", "from enum import auto" },
    { "Decimal", "from decimal import Decimal" },
    { "Fraction", "from fractions import Fraction" },
    { "StringIO", "from io import StringIO" },
    { "BytesIO", "from io import BytesIO" },
    { "Thread", "from threading import Thread" },
    { "Lock", "from threading import Lock" },
    { "Queue", "from queue import Queue" },
    { "Pool", "from multiprocessing import Pool" },
    { "ThreadPoolExecutor", "from concurrent.futures import ThreadPoolExecutor" },
    { "ProcessPoolExecutor", "from concurrent.futures import ProcessPoolExecutor" },
    { "contextmanager", "from contextlib import contextmanager" },
    { "suppress", "from contextlib import suppress" },
    { "urlopen", "from urllib.request import urlopen" },
    { "urlparse", "from urllib.parse import urlparse" },
    { "dedent", "from textwrap import dedent" },
    { "mean", "from statistics import mean" },
    { "median", "from statistics import median" },
    { "stdev", "from statistics import stdev" },
    { "uuid4", "from uuid import uuid4" },
};

bool py_is_stdlib(struct piece module)
{
    return piece_among(module, py_stdlib);
}

const char *py_import_for(struct piece name)
{
    for (size_t i = 0; i < ARRAY_LEN(imports); i++)
        if (piece_is(name, imports[i].name))
            return imports[i].statement;
    return NULL;
}

/* ---- modules ---- */

static bool has_module(const struct advice *a, const char *module)
{
    return a->in->available && a->in->available(a->in->context, module);
}

/* A file of the job's with the name of the module; NULL when there is none. */
static const char *shadowing(const struct advice *a, struct piece module)
{
    for (size_t i = 0; i < a->in->n_sources; i++) {
        struct piece name = piece_of(a->in->sources[i].name);
        if (name.len == module.len + 3 && starts_with(name, "") &&
            memcmp(name.at, module.at, module.len) == 0 &&
            memcmp(name.at + module.len, ".py", 3) == 0)
            return a->in->sources[i].name;
    }
    return NULL;
}

static struct piece top_of(struct piece module)
{
    return piece_cut(module, piece_find(module, "."));
}

/* Only a package of our own table becomes part of a command. The name in a traceback is the
 * guest's, who may want somebody to install a package (DIAGNOSE-4). */
static void say_missing(const struct advice *a, struct piece top, const char *package)
{
    const char *other = NULL;
    for (size_t i = 0; i < ARRAY_LEN(instead); i++)
        if (piece_is(top, instead[i].module))
            other = instead[i].instead;
    char named[160];
    if (!piece_is(top, package))
        (void)snprintf(named, sizeof named, "'%.*s' is in the package %s", P(top), package);
    else
        (void)snprintf(named, sizeof named, "'%.*s' is a package of its own", P(top));
    suggest(a->d, 1, 0.9,
            "%s%s. A jar cannot download it: install it for the host's Python (pip install %s), "
            "and jars will see it%s%s%s.",
            named, a->in->available ? ", which is not installed here" : "", package,
            other ? "; or use " : "", other ? other : "",
            other ? " of the standard library instead" : "");
}

static void say_unknown(const struct advice *a, struct piece top)
{
    suggest(a->d, 1, 0.6,
            "'%.*s' is not in Python's standard library, and a jar cannot download it: do without "
            "it, or have it installed for the host's Python after a review of the package.",
            P(top));
}

static void on_no_module(const struct advice *a)
{
    struct piece module = a->m.group[0], top = top_of(module);
    const char *own = shadowing(a, top);
    if (own && top.len != module.len) {
        suggest(a->d, 2, 0.95,
                "%s beside the program hides the package '%.*s': give the file another name.", own,
                P(top));
        return;
    }
    for (size_t i = 0; i < ARRAY_LEN(renamed); i++)
        if (piece_is(top, renamed[i].old)) {
            suggest(a->d, 1, 0.95, "Python 3 has no '%s': its name is now %s.", renamed[i].old,
                    renamed[i].now);
            (void)suggest_swap(a->in, a->d, top, renamed[i].now);
            return;
        }
    for (size_t i = 0; i < ARRAY_LEN(packages); i++)
        if (piece_is(top, packages[i].module)) {
            say_missing(a, top, packages[i].package);
            return;
        }
    struct similar n = { .name = top };
    for (size_t i = 0; i < a->in->n_sources; i++) {
        struct piece name = piece_of(a->in->sources[i].name);
        if (name.len > 3 && memcmp(name.at + name.len - 3, ".py", 3) == 0)
            similar_try(&n, piece_cut(name, name.len - 3));
    }
    similar_try_list(&n, py_stdlib);
    for (size_t i = 0; i < ARRAY_LEN(packages); i++)
        similar_try(&n, piece_of(packages[i].module));
    if (n.best[0]) {
        bool here = has_module(a, n.best) || shadowing(a, piece_of(n.best));
        suggest(a->d, 1, 0.9, "Did you mean '%s'?%s", n.best,
                here ? " It can be imported here." : "");
        (void)suggest_swap(a->in, a->d, top, n.best);
        return;
    }
    say_unknown(a, top);
    suggest(a->d, 0, 0.5,
            "If '%.*s' is your own file, send it with the run: /sandbox holds only the files of "
            "the run.",
            P(top));
}

/* Names that moved, with the statement that brings them in now. */
static const struct {
    const char *module, *name, *now;
} moved[] = {
    { "collections", "Mapping", "from collections.abc import Mapping" },
    { "collections", "MutableMapping", "from collections.abc import MutableMapping" },
    { "collections", "Sequence", "from collections.abc import Sequence" },
    { "collections", "Iterable", "from collections.abc import Iterable" },
    { "collections", "Iterator", "from collections.abc import Iterator" },
    { "collections", "Callable", "from collections.abc import Callable" },
    { "collections", "Hashable", "from collections.abc import Hashable" },
    { "fractions", "gcd", "from math import gcd" },
    { "time", "clock", "from time import perf_counter" },
    { "inspect", "getargspec", "from inspect import getfullargspec" },
    { "asyncio", "coroutine", "async def" },
    { "itertools", "izip", "zip (built in)" },
    { "itertools", "imap", "map (built in)" },
    { "urllib", "urlencode", "from urllib.parse import urlencode" },
    { "urllib", "quote", "from urllib.parse import quote" },
    { "urllib", "urlopen", "from urllib.request import urlopen" },
    { "string", "maketrans", "str.maketrans (built in)" },
    { "typing", "override", "typing_extensions (typing has it from Python 3.12)" },
    { "sklearn.externals", "joblib", "import joblib" },
};

/* Whether "from MODULE import NAME" takes it from that module. */
static bool comes_from(const struct advice *a, const char *statement, struct piece module)
{
    struct match m;
    return match(a->g, "^from ([\\w.]+) import ", piece_of(statement), &m) &&
           piece_same(m.group[0], module);
}

/* The first few names that the file defines at its left margin: "a, b, c". */
static void list_definitions(const struct advice *a, const struct source_file *f, char *out,
                             size_t size)
{
    struct piece rest = text_of_source(f), line;
    struct match m;
    size_t used = 0;
    for (unsigned i = 0, n = 0; i < LINES_SEEN && n < 5 && next_line(&rest, &line); i++) {
        if (!match(a->g, "^(?:async )?(?:def|class) ([A-Za-z]\\w*)|^([A-Za-z]\\w*)\\s*=", line, &m))
            continue;
        struct piece name = m.group[0].at ? m.group[0] : m.group[1];
        if (used + name.len + 3 > size)
            return;
        used += (size_t)snprintf(out + used, size - used, "%s%.*s", n++ ? ", " : "", P(name));
    }
}

static void on_cannot_import(const struct advice *a)
{
    struct piece name = a->m.group[0], module = a->m.group[1], path = a->m.group[2];
    for (size_t i = 0; i < ARRAY_LEN(moved); i++)
        if (piece_is(module, moved[i].module) && piece_is(name, moved[i].name)) {
            suggest(a->d, 2, 0.95, "'%s' has left the module %s: use %s.", moved[i].name,
                    moved[i].module, moved[i].now);
            if (starts_with(piece_of(moved[i].now), "from ") ||
                starts_with(piece_of(moved[i].now), "import "))
                suggest_replacement(a->d, "%.*s%s", (int)indent_of(a->line),
                                    a->line.at ? a->line.at : "", moved[i].now);
            return;
        }
    if (piece_has(a->message, "circular import")) {
        suggest(a->d, 2, 0.85,
                "The modules import each other: move one import into the function that needs it, "
                "or move the shared code into a third file.");
        return;
    }
    const struct source_file *own = find_source(a->in, path);
    if (own && py_is_stdlib(module)) {
        suggest(a->d, 2, 0.95,
                "%s beside the program hides the module '%.*s' of the standard library: give the "
                "file another name.",
                own->name, P(module));
        return;
    }
    struct similar n = { .name = name };
    struct diagnose_input alone = *a->in;
    alone.sources = own;
    alone.n_sources = own ? 1 : 0;
    similar_try_sources(&n, &alone);
    for (size_t i = 0; !own && i < ARRAY_LEN(imports); i++)
        if (comes_from(a, imports[i].statement, module))
            similar_try(&n, piece_of(imports[i].name));
    char defined[160] = "";
    if (own)
        list_definitions(a, own, defined, sizeof defined);
    if (own && n.best[0]) {
        suggest(a->d, 2, 0.9, "%s has no '%.*s'; it has '%s'.", own->name, P(name), n.best);
        (void)suggest_swap(a->in, a->d, name, n.best);
    } else if (own) {
        suggest(a->d, 2, 0.8,
                "%s does not define '%.*s': define it there, or import a name that it defines%s%s.",
                own->name, P(name), defined[0] ? ": " : "", defined);
    } else if (n.best[0]) {
        suggest(a->d, 2, 0.9, "'%.*s' has no '%.*s'; it has '%s'.", P(module), P(name), n.best);
        (void)suggest_swap(a->in, a->d, name, n.best);
    } else {
        suggest(a->d, 2, 0.6,
                "This version of '%.*s' has no '%.*s': the name belongs to another version; "
                "dir(%.*s) lists the names.",
                P(module), P(name), P(module));
    }
}

static void on_module_attribute(const struct advice *a)
{
    struct piece module = a->m.group[0], name = a->m.group[1];
    const char *own = shadowing(a, module);
    if (own && strcmp(own, a->d->location.file) != 0 && !py_is_stdlib(module))
        own = NULL;
    if (own && (py_is_stdlib(module) || piece_has(a->message, "circular import"))) {
        suggest(a->d, 2, 0.95,
                "%s beside the program hides the module '%.*s': give the file another name.", own,
                P(module));
        return;
    }
    for (size_t i = 0; i < ARRAY_LEN(moved); i++)
        if (piece_is(module, moved[i].module) && piece_is(name, moved[i].name)) {
            suggest(a->d, 5, 0.95, "'%s' has left the module %s: use %s.", moved[i].name,
                    moved[i].module, moved[i].now);
            return;
        }
}

const struct rule py_name_rules[] = {
    ON("ModuleNotFoundError", "^No module named '?([\\w.]+)'?", on_no_module),
    ON("ImportError", "^No module named '?([\\w.]+)'?", on_no_module),
    ON("ImportError",
       "^cannot import name '(\\w+)' from (?:partially initialized module )?'([\\w.]+)'(?:.* "
       "\\((/[^)]*)\\))?",
       on_cannot_import),
    ON("AttributeError", "^(?:partially initialized )?module '([\\w.]+)' has no attribute '(\\w+)'",
       on_module_attribute),
    END_OF_RULES,
};
