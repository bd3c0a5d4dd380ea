/* Rules for None, and for attributes that an object does not have. Runs in: keeper. */
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "diagnose/python/python.h"

/* ---- None ---- */

/* Calls that return None, and the text that shows such a call. */
static const struct {
    const char *call, *why;
} none_calls[] = {
    { ".sort(",
      "sort() works in place and returns None: call it on a line of its own, or use sorted(...)" },
    { ".reverse(",
      "reverse() works in place and returns None: call it on a line of its own, or use [::-1]" },
    { ".append(", "append() changes the list and returns None: call it on a line of its own" },
    { ".extend(", "extend() changes the list and returns None: call it on a line of its own" },
    { ".insert(", "insert() changes the list and returns None: call it on a line of its own" },
    { ".remove(", "remove() changes the list and returns None: call it on a line of its own" },
    { ".clear(", "clear() empties it and returns None: call it on a line of its own" },
    { ".update(",
      "update() changes the dict or set and returns None: call it on a line of its own" },
    { ".add(", "add() changes the set and returns None: call it on a line of its own" },
    { "shuffle(", "shuffle() works in place and returns None: call it on a line of its own" },
    { "re.match(", "re.match() returns None when the beginning does not match: test the result "
                   "first (`if m:`); re.search() searches the whole text" },
    { "re.search(",
      "re.search() returns None when nothing matches: test the result first (`if m:`)" },
    { "re.fullmatch(", "re.fullmatch() returns None when the whole text does not match: test the "
                       "result first (`if m:`)" },
    { ".match(", "match() returns None when nothing matches: test the result first (`if m:`)" },
    { ".search(", "search() returns None when nothing matches: test the result first (`if m:`)" },
    { "environ.get(", "os.environ.get() returns None for a variable that is not set: give a "
                      "default, or set it (--env NAME=VALUE)" },
    { "getenv(", "os.getenv() returns None for a variable that is not set: give a default, or set "
                 "it (--env NAME=VALUE)" },
    { ".get(", ".get() returns None for a missing key: give a default (`.get(key, default)`), or "
               "test the result" },
    { ".find(", "find() returns None when there is no such element: test the result first" },
    { "print(", "print() returns None: keep the value in a variable and print that" },
    { ".fetchone(", "fetchone() returns None when no row is left: test the result first" },
    { ".inplace=True",
      "with inplace=True the method returns None: remove the assignment or the argument" },
    { "inplace=True",
      "with inplace=True the method returns None: remove the assignment or the argument" },
};

static const char *reason_for_none(struct piece code)
{
    for (size_t i = 0; i < ARRAY_LEN(none_calls); i++)
        if (piece_has(code, none_calls[i].call))
            return none_calls[i].why;
    return NULL;
}

/* Whether the function that begins at that line has a `return` with a value. */
static bool returns(const struct advice *a, const struct source_file *f, uint32_t number)
{
    struct piece rest = text_of_source(f), line;
    size_t own = 0;
    struct match m;
    for (uint32_t i = 1; i < LINES_SEEN && next_line(&rest, &line); i++) {
        if (i < number)
            continue;
        if (i == number)
            own = indent_of(line);
        else if (piece_trim(line).len > 0 && indent_of(line) <= own)
            return false;
        else if (match(a->g, "^\\s*(?:.*:\\s*)?(?:return|yield)\\s+\\S", line, &m))
            return true;
    }
    return false;
}

/* The call at the end of the code, "name(": `where(` for `Query("x").where(y)`. NO_PIECE when the
 * code does not end with a call. */
static struct piece last_call(struct piece code)
{
    size_t at = code.len;
    long depth = 0;
    while (at > 0 && (code.at[at - 1] == ' ' || code.at[at - 1] == '\t'))
        at--;
    if (at == 0 || code.at[at - 1] != ')')
        return NO_PIECE;
    while (at > 0) {
        char c = code.at[--at];
        depth += c == ')' ? 1 : c == '(' ? -1 : 0;
        if (depth == 0)
            break;
    }
    size_t end = at + 1, from = at;
    while (is_word_byte(piece_at(code, from)))
        from--;
    return depth == 0 && from < at ? piece_skip(piece_cut(code, end), from) : NO_PIECE;
}

/* Explains a call of the program's own function that may return None. */
static bool explain_own_call(const struct advice *a, struct piece code, const char *name,
                             uint32_t line)
{
    struct match m;
    struct piece at = NO_PIECE;
    uint32_t number = 0;
    const struct source_file *f = NULL;
    while (match(a->g, "(?:^|[^\\w])(?:\\w+\\.)*(\\w+)\\(", code, &m) &&
           (!py_defined(a, m.group[0], &at, &number, &f) || starts_with(at, "class "))) {
        code = piece_after(code, m.group[0]);
        f = NULL;
    }
    if (!f)
        return false;
    char where[80] = "";
    if (name && line)
        (void)snprintf(where, sizeof where, ", and line %u stores that in '%.40s'", line, name);
    if (returns(a, f, number))
        suggest(a->d, 4, 0.85,
                "%.*s() (line %u) returned None%s: a path through it ends without `return`, or "
                "returns None. Test the result, or return something on every path.",
                P(m.group[0]), number, where);
    else
        suggest(a->d, 4, 0.93, "%.*s() (line %u) has no `return`, so it returns None%s: return %s.",
                P(m.group[0]), number, where,
                piece_has(at, "(self") && !name
                    ? "the object for the next call (self, for chained calls)"
                    : "the value");
    return true;
}

static void blame_name(const struct advice *a, struct piece name)
{
    struct piece value;
    uint32_t number;
    char shown[64];
    COPY(name, shown);
    if (!py_assigned(a, name, &value, &number)) {
        suggest(a->d, 4, 0.5,
                "'%s' is None here: check the argument in the call, or test it first (`if %s is "
                "not None:`).",
                shown, shown);
        return;
    }
    const char *why = reason_for_none(value);
    if (explain_own_call(a, value, shown, number))
        return;
    if (why)
        suggest(a->d, 4, 0.92, "'%s' is None since line %u: %s.", shown, number, why);
    else if (piece_is(piece_trim(value), "None"))
        suggest(a->d, 4, 0.85,
                "'%s' is None since line %u, and no line before this one gives it another value: "
                "assign one.",
                shown, number);
    else
        suggest(a->d, 4, 0.6, "'%s' got the value None in line %u: test it first.", shown, number);
}

/* Finds the part of the line that is None: the code before the attribute or bracket. */
static void on_none(const struct advice *a)
{
    struct match m;
    struct piece attribute = a->m.group[0];
    if (!a->line.at) {
        suggest(a->d, 4, 0.4,
                "A value in this line is None: a call found nothing, or a function has no "
                "`return`. Test the value first.");
        return;
    }
    struct piece before = a->line;
    if (attribute.at) {
        char dotted[96];
        (void)snprintf(dotted, sizeof dotted, ".%.*s", P(piece_cut(attribute, 80)));
        before.len = piece_find(a->line, dotted);
    } else if (a->d->location.column > 0 && a->d->location.end_column > a->d->location.column) {
        /* Python points at the brackets; the indexed value stands before them. */
        size_t at = a->d->location.column - 1;
        if (at > 0 && at < before.len && match(a->g, "[\\w)\\]]$", piece_cut(before, at), &m))
            before.len = at;
    }
    if (before.len < a->line.len &&
        match(a->g, "\\)\\s*$", before, &m)) { /* the result of a call, without a name */
        const char *why = reason_for_none(before);
        struct piece call = last_call(before);
        if (!explain_own_call(a, call.at ? call : before, NULL, 0))
            suggest(a->d, 4, why ? 0.92 : 0.5, "%s%s.",
                    why ? "" : "The call before it returned None: ",
                    why ? why : "test the result first");
        return;
    }
    if (before.len < a->line.len && match(a->g, "([A-Za-z_][\\w.]*)$", before, &m)) {
        blame_name(a, m.group[0]);
        return;
    }
    struct piece rest = a->line; /* the first name in the line with the value None */
    while (match(a->g, "([A-Za-z_]\\w*)", rest, &m)) {
        struct piece value;
        uint32_t number;
        if (py_assigned(a, m.group[0], &value, &number) &&
            (reason_for_none(value) || piece_is(piece_trim(value), "None") ||
             piece_has(value, "("))) {
            blame_name(a, m.group[0]);
            return;
        }
        rest = piece_after(rest, m.all);
    }
    /* A line that prints does not use the result of print(). */
    const char *why = piece_has(a->line, "print(") ? NULL : reason_for_none(a->line);
    if (!explain_own_call(a, a->line, NULL, 0))
        suggest(a->d, 4, why ? 0.8 : 0.4, "%s.",
                why ? why
                    : "A value in this line is None: a call found nothing, or a function has no "
                      "`return`");
}

/* ---- attributes ---- */

/* Attributes of other languages, and of older versions. */
static const struct {
    const char *type, *attribute, *advice;
    const char *swap; /* the right attribute; NULL when another name is not enough */
} habits[] = {
    { "DataFrame", "append",
      "DataFrame.append was removed in pandas 2: use pd.concat([a, b], ignore_index=True)", NULL },
    { "Series", "append", "Series.append was removed in pandas 2: use pd.concat([a, b])", NULL },
    { "DataFrame", "ix", "DataFrame.ix was removed: use .loc (by label) or .iloc (by position)",
      "loc" },
    { "DataFrame", "iteritems", "iteritems was removed in pandas 2: use items()", "items" },
    { "Series", "iteritems", "iteritems was removed in pandas 2: use items()", "items" },
    { "list", "push", "Lists grow by append()", "append" },
    { "list", "add", "Lists grow by append(); add() is for sets", "append" },
    { "list", "push_back", "Lists grow by append()", "append" },
    { "list", "length", "The length is len(x)", NULL },
    { "list", "len", "The length is len(x)", NULL },
    { "list", "size", "The length is len(x)", NULL },
    { "str", "length", "The length is len(x)", NULL },
    { "str", "len", "The length is len(x)", NULL },
    { "dict", "length", "The length is len(x)", NULL },
    { "tuple", "length", "The length is len(x)", NULL },
    { "list", "join", "join() belongs to the separator: ', '.join(x)", NULL },
    { "list", "map", "Use a comprehension: [f(v) for v in x]", NULL },
    { "list", "filter", "Use a comprehension: [v for v in x if ...]", NULL },
    { "list", "forEach", "Use a loop: for v in x:", NULL },
    { "list", "includes", "Test it with `in`: v in x", NULL },
    { "list", "contains", "Test it with `in`: v in x", NULL },
    { "list", "indexOf", "The position is x.index(v)", "index" },
    { "list", "split", "Lists have no split(): it is for strings", NULL },
    { "list", "strip", "Lists have no strip(): apply it to each item, [v.strip() for v in x]",
      NULL },
    { "list", "lower", "Lists have no lower(): apply it to each item, [v.lower() for v in x]",
      NULL },
    { "list", "replace",
      "Lists have no replace(): apply it to each item, [v.replace(a, b) for v in x]", NULL },
    { "list", "items", "Lists have no items(): use enumerate(x) for positions and values", NULL },
    { "list", "keys", "Lists have no keys(): it is for dicts", NULL },
    { "list", "get", "Lists have no get(): use x[i] after testing len(x)", NULL },
    { "list", "shape", "Lists have no shape: np.array(x).shape has it, len(x) is the length",
      NULL },
    { "str", "contains", "Test it with `in`: part in x", NULL },
    { "str", "includes", "Test it with `in`: part in x", NULL },
    { "str", "trim", "In Python it is strip()", "strip" },
    { "str", "toUpperCase", "In Python it is upper()", "upper" },
    { "str", "toLowerCase", "In Python it is lower()", "lower" },
    { "str", "substring", "A part of a string is x[from:to]", NULL },
    { "str", "charAt", "A character is x[i]", NULL },
    { "str", "append", "Strings cannot be changed: use += or collect a list and ''.join(it)",
      NULL },
    { "str", "reverse", "Strings cannot be changed: x[::-1] is the reverse", NULL },
    { "str", "sort", "Strings cannot be changed: ''.join(sorted(x))", NULL },
    { "str", "decode", "It is text already: decode() is for bytes", NULL },
    { "bytes", "encode", "They are bytes already: encode() is for str", NULL },
    { "str", "push", "Strings cannot be changed: use += or a list", NULL },
    { "str", "items", "It is a str, not a dict: json.loads(x) makes a dict of JSON", NULL },
    { "str", "keys", "It is a str, not a dict: json.loads(x) makes a dict of JSON", NULL },
    { "str", "get", "It is a str, not a dict: json.loads(x) makes a dict of JSON", NULL },
    { "str", "isnumber", "In Python it is isnumeric() or isdigit()", "isdigit" },
    { "str", "days", "It is text, not a date: datetime.strptime(x, format) makes one", NULL },
    { "str", "strftime", "It is text, not a date: datetime.strptime(x, format) makes one", NULL },
    { "dict", "has_key", "Test it with `in`: key in x", NULL },
    { "dict", "iteritems", "In Python 3 it is items()", "items" },
    { "dict", "itervalues", "In Python 3 it is values()", "values" },
    { "dict", "iterkeys", "In Python 3 it is keys()", "keys" },
    { "dict", "append", "Dicts have no append(): set x[key] = value, or call update()", NULL },
    { "dict", "add", "Dicts have no add(): set x[key] = value", NULL },
    { "dict", "push", "Dicts have no push(): set x[key] = value", NULL },
    { "dict", "sort", "Dicts have no sort(): dict(sorted(x.items()))", NULL },
    { "dict_keys", "sort", "Use sorted(x)", NULL },
    { "dict_keys", "index", "Make a list first: list(x).index(v)", NULL },
    { "set", "append", "Sets grow by add()", "add" },
    { "set", "push", "Sets grow by add()", "add" },
    { "set", "extend", "Sets take many by update()", "update" },
    { "set", "sort", "Sets have no order: sorted(x) is a sorted list", NULL },
    { "tuple", "append", "Tuples cannot be changed: make a list, or x + (v,)", NULL },
    { "tuple", "sort", "Tuples cannot be changed: tuple(sorted(x))", NULL },
    { "tuple", "remove", "Tuples cannot be changed: make a list of it first", NULL },
    { "generator", "next", "In Python 3 it is next(x)", NULL },
    { "generator", "append", "It is a generator, not a list: list(x) makes one", NULL },
    { "map", "append", "map() returns an iterator: list(map(...)) makes a list", NULL },
    { "map", "sort", "map() returns an iterator: sorted(map(...)) is a sorted list", NULL },
    { "filter", "append", "filter() returns an iterator: list(filter(...)) makes a list", NULL },
    { "zip", "append", "zip() returns an iterator: list(zip(...)) makes a list", NULL },
    { "int", "append", "It is a number, not a list: was the list overwritten?", NULL },
    { "int", "split", "It is a number, not text: str(x) makes text of it", NULL },
    { "int", "isdigit", "It is a number already: isdigit() is for text", NULL },
    { "int", "strip", "It is a number, not text: str(x) makes text of it", NULL },
    { "int", "length", "A number has no length: len(str(x)) counts its digits", NULL },
    { "float", "split", "It is a number, not text: str(x) makes text of it", NULL },
    { "_io.TextIOWrapper", "split", "It is a file, not its text: read it first, x.read()", NULL },
    { "_io.TextIOWrapper", "strip", "It is a file, not its text: read it first, x.read()", NULL },
    { "_io.TextIOWrapper", "splitlines", "It is a file, not its text: read it first, x.read()",
      NULL },
};

static unsigned rule_of_habit(const char *type)
{
    return strcmp(type, "DataFrame") == 0 || strcmp(type, "Series") == 0 ? 6 : 5;
}

/* Rewrites `df = df.append(x)` for pandas 2. */
static void offer_concat(const struct advice *a)
{
    struct match m;
    if (match(
            a->g,
            "^(\\s*(?:[\\w.]+\\s*=\\s*)?)([\\w.]+)\\.append\\((.+?)(, ignore_index=True)?\\)\\s*$",
            a->line, &m))
        suggest_replacement(a->d, "%.*spd.concat([%.*s, %.*s], ignore_index=True)", P(m.group[0]),
                            P(m.group[1]), P(m.group[2]));
}

static const char *const list_names[] = { "append", "clear", "copy",   "count",   "extend", "index",
                                          "insert", "pop",   "remove", "reverse", "sort",   NULL };
static const char *const str_names[] = { "capitalize",   "casefold",   "center",     "count",
                                         "encode",       "endswith",   "expandtabs", "find",
                                         "format",       "index",      "isalnum",    "isalpha",
                                         "isascii",      "isdecimal",  "isdigit",    "isidentifier",
                                         "islower",      "isnumeric",  "isspace",    "istitle",
                                         "isupper",      "join",       "ljust",      "lower",
                                         "lstrip",       "maketrans",  "partition",  "removeprefix",
                                         "removesuffix", "replace",    "rfind",      "rindex",
                                         "rjust",        "rpartition", "rsplit",     "rstrip",
                                         "split",        "splitlines", "startswith", "strip",
                                         "swapcase",     "title",      "translate",  "upper",
                                         "zfill",        NULL };
static const char *const dict_names[] = { "clear",      "copy",   "fromkeys", "get",
                                          "items",      "keys",   "pop",      "popitem",
                                          "setdefault", "update", "values",   NULL };
static const char *const set_names[] = { "add",        "clear",    "copy",
                                         "difference", "discard",  "intersection",
                                         "isdisjoint", "issubset", "issuperset",
                                         "pop",        "remove",   "symmetric_difference",
                                         "union",      "update",   NULL };

static const struct {
    const char *type;
    const char *const *names;
} attributes[] = {
    { "list", list_names }, { "str", str_names }, { "dict", dict_names }, { "set", set_names }
};

void py_not_awaited(const struct advice *a)
{
    suggest(a->d, 26, 0.92,
            "The value is a coroutine that was not awaited: put `await` before the call (inside "
            "`async def`), or pass it to asyncio.run().");
}

static void on_attribute(const struct advice *a)
{
    struct piece type = a->m.group[0], name = a->m.group[1], hint;
    if (piece_is(type, "NoneType"))
        return;
    if (piece_is(type, "coroutine")) {
        py_not_awaited(a);
        return;
    }
    for (size_t i = 0; i < ARRAY_LEN(habits); i++)
        if (piece_is(type, habits[i].type) && piece_is(name, habits[i].attribute)) {
            suggest(a->d, rule_of_habit(habits[i].type), 0.94, "%s.", habits[i].advice);
            if (habits[i].swap)
                (void)suggest_swap(a->in, a->d, name, habits[i].swap);
            else if (strcmp(habits[i].type, "DataFrame") == 0)
                offer_concat(a);
            return;
        }
    struct similar n = { .name = name };
    for (size_t i = 0; i < ARRAY_LEN(attributes); i++)
        if (piece_is(type, attributes[i].type))
            similar_try_list(&n, attributes[i].names);
    if (py_hint(a, &hint))
        COPY(hint, n.best);
    else if (!n.best[0])
        similar_try_sources(&n, a->in);
    struct piece line;
    uint32_t number;
    const struct source_file *f;
    if (n.best[0]) {
        suggest(a->d, 5, 0.9, "Did you mean '.%s'?", n.best);
        (void)suggest_swap(a->in, a->d, name, n.best);
    } else if (py_defined(a, type, &line, &number, &f)) {
        suggest(a->d, 5, 0.7,
                "The class %.*s (line %u of %s) has no '%.*s': set self.%.*s in __init__, or "
                "define it in the class.",
                P(type), number, f->name, P(name), P(name));
    } else {
        suggest(a->d, 5, 0.4,
                "A %.*s has no '%.*s': dir(x) lists its attributes; check that type(x) is the "
                "expected one.",
                P(type), P(name));
    }
}

static void on_module_name(const struct advice *a)
{
    struct piece module = a->m.group[0], name = a->m.group[1], hint;
    static const char *const plain[] = { "float",   "int",  "bool",    "object", "str",
                                         "complex", "long", "unicode", NULL };
    if (piece_is(module, "numpy") && piece_among(name, plain)) {
        char old[32];
        (void)snprintf(old, sizeof old, "np.%.*s", P(name));
        bool py2 = piece_is(name, "long") || piece_is(name, "unicode");
        char now[32];
        COPY(py2 ? piece_of(piece_is(name, "long") ? "int" : "str") : name, now);
        suggest(
            a->d, 7, 0.95,
            "np.%.*s was removed in NumPy 1.24: use Python's own `%s`, or np.%s for a fixed width.",
            P(name), now,
            piece_is(name, "float")  ? "float64"
            : piece_is(name, "int")  ? "int64"
            : piece_is(name, "bool") ? "bool_"
                                     : "dtype");
        (void)suggest_swap(a->in, a->d, piece_of(old), now);
        return;
    }
    char best[128] = "";
    if (py_hint(a, &hint))
        COPY(hint, best);
    if (best[0]) {
        suggest(a->d, 5, 0.9, "Did you mean '%.*s.%s'?", P(module), best);
        (void)suggest_swap(a->in, a->d, name, best);
        return;
    }
    char file[160];
    (void)snprintf(file, sizeof file, "%.*s.py", P(module));
    const struct source_file *own = find_source(a->in, piece_of(file));
    struct similar n = { .name = name };
    struct diagnose_input alone = *a->in;
    alone.sources = own;
    alone.n_sources = own != NULL;
    similar_try_sources(&n, &alone);
    if (n.best[0]) {
        suggest(a->d, 5, 0.85, "Did you mean '%.*s.%s'?", P(module), n.best);
        (void)suggest_swap(a->in, a->d, name, n.best);
    } else {
        suggest(a->d, 5, 0.4,
                "The module has no '%.*s': it may be a submodule (import %.*s.%.*s), or part of "
                "another version.",
                P(name), P(module), P(name));
    }
}

const struct rule py_object_rules[] = {
    ON("AttributeError", "^'NoneType' object has no attribute '(\\w+)'", on_none),
    ON("TypeError",
       "^'NoneType' object is not|^object of type 'NoneType'|^cannot unpack non-iterable "
       "NoneType|^argument of type 'NoneType'|'NoneType' and|and 'NoneType'|^'NoneType' object "
       "does|(?:not|concatenate \\w+ \\(not) \"?NoneType",
       on_none),
    ON("AttributeError", "^'([\\w.]+)' object has no attribute '(\\w+)'", on_attribute),
    ON("AttributeError", "^type object '([\\w.]+)' has no attribute '(\\w+)'", on_attribute),
    ON("AttributeError", "^module '([\\w.]+)' has no attribute '(\\w+)'", on_module_name),
    END_OF_RULES,
};
