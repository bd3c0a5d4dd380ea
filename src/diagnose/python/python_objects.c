/* Objects that are not what the program takes them for: None, wrong attributes, wrong calls. */
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "diagnose/python/python.h"

/* ---- None ---- */

/* Calls that give None, by what stands in the text of the call. */
static const struct {
    const char *call, *why;
} nothings[] = {
    { ".sort(",
      "sort() sorts in place and returns None: call it on a line of its own, or use sorted(...)" },
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
    { "re.match(", "re.match() returns None where nothing matches at the beginning: test the "
                   "result first (`if m:`); re.search() looks everywhere" },
    { "re.search(",
      "re.search() returns None where nothing matches: test the result first (`if m:`)" },
    { "re.fullmatch(", "re.fullmatch() returns None where the whole text does not match: test the "
                       "result first (`if m:`)" },
    { ".match(", "match() returns None where nothing matches: test the result first (`if m:`)" },
    { ".search(", "search() returns None where nothing matches: test the result first (`if m:`)" },
    { "environ.get(", "os.environ.get() returns None for a variable that is not set: give a "
                      "default, or set it (--env NAME=VALUE)" },
    { "getenv(", "os.getenv() returns None for a variable that is not set: give a default, or set "
                 "it (--env NAME=VALUE)" },
    { ".get(", ".get() returns None for a key that is not there: give a default (`.get(key, "
               "default)`), or test the result" },
    { ".find(", "find() returned None: there is no such element; test the result first" },
    { "print(", "print() returns None: keep the value in a variable and print that" },
    { ".fetchone(", "fetchone() returns None when no row is left: test the result first" },
    { ".inplace=True",
      "with inplace=True the method returns None: leave the assignment or the argument out" },
    { "inplace=True",
      "with inplace=True the method returns None: leave the assignment or the argument out" },
};

static const char *nothing_of(struct piece code)
{
    for (size_t i = 0; i < ARRAY_LEN(nothings); i++)
        if (piece_has(code, nothings[i].call))
            return nothings[i].why;
    return NULL;
}

/* Whether the function that begins at that line has a `return` with a value. */
static bool returns(struct py *p, const struct source_file *f, uint32_t number)
{
    struct piece rest = { f->text, f->len }, line;
    size_t own = 0;
    struct match m;
    for (uint32_t i = 1; i < LINES_SEEN && next_line(&rest, &line); i++) {
        if (i < number)
            continue;
        if (i == number)
            own = indent_of(line);
        else if (piece_trim(line).len > 0 && indent_of(line) <= own)
            return false;
        else if (match(p->g, "^\\s*(?:.*:\\s*)?(?:return|yield)\\s+\\S", line, &m))
            return true;
    }
    return false;
}

/* The call that the code ends with, "name(": in `Query("x").where(y)` it is `where(`. NO_PIECE: it ends with none. */
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
    while (from > 0 &&
           (code.at[from - 1] == '_' || (code.at[from - 1] >= '0' && code.at[from - 1] <= '9') ||
            ((code.at[from - 1] | 32) >= 'a' && (code.at[from - 1] | 32) <= 'z')))
        from--;
    return depth == 0 && from < at ? (struct piece){ code.at + from, end - from } : NO_PIECE;
}

/* The function of the program's own that the code calls, when it may give None. */
static bool own_nothing(struct py *p, struct piece code, const char *name, uint32_t line)
{
    struct match m;
    struct piece at = NO_PIECE;
    uint32_t number = 0;
    const struct source_file *f = NULL;
    while (match(p->g, "(?:^|[^\\w])(?:\\w+\\.)*(\\w+)\\(", code, &m) &&
           (!py_defined(p, m.group[0], &at, &number, &f) || starts_with(at, "class "))) {
        size_t used = (size_t)(m.group[0].at + m.group[0].len - code.at);
        code.at += used;
        code.len -= used;
        f = NULL;
    }
    if (!f)
        return false;
    char where[80] = "";
    if (name && line)
        (void)snprintf(where, sizeof where, ", and line %u keeps that in '%.40s'", line, name);
    if (returns(p, f, number))
        suggest(p->d, 4, 0.85,
                "%.*s() (line %u) returned None%s: a path through it ends without `return`, or "
                "returns None. Test the result, or return something on every path.",
                P(m.group[0]), number, where);
    else
        suggest(p->d, 4, 0.93, "%.*s() (line %u) has no `return`, so it gives None%s: return %s.",
                P(m.group[0]), number, where,
                piece_has(at, "(self") && !name
                    ? "what is used next (self, for calls one after the other)"
                    : "the value");
    return true;
}

static void blame_name(struct py *p, struct piece name)
{
    struct piece value;
    uint32_t number;
    char shown[64];
    COPY(name, shown);
    if (!py_assigned(p, name, &value, &number)) {
        suggest(p->d, 4, 0.5,
                "'%s' is None here: look at what was passed for it, or test it first (`if %s is "
                "not None:`).",
                shown, shown);
        return;
    }
    const char *why = nothing_of(value);
    if (own_nothing(p, value, shown, number))
        return;
    if (why)
        suggest(p->d, 4, 0.92, "'%s' is None since line %u: %s.", shown, number, why);
    else if (piece_is(piece_trim(value), "None"))
        suggest(p->d, 4, 0.85,
                "'%s' is None since line %u, and nothing gave it another value before this line.",
                shown, number);
    else
        suggest(p->d, 4, 0.6, "'%s' got its value in line %u, and that was None: test it first.",
                shown, number);
}

/* Which part of the line was None, by what stands before the attribute or bracket. */
static void on_none(struct py *p)
{
    struct match m;
    struct piece attribute = p->m.group[0];
    if (!p->line.at) {
        suggest(p->d, 4, 0.4,
                "Something here is None: the call that gave it found nothing, or has no `return`.");
        return;
    }
    struct piece before = p->line;
    if (attribute.at) {
        char dotted[96];
        (void)snprintf(dotted, sizeof dotted, ".%.*s",
                       (int)(attribute.len < 80 ? attribute.len : 80), attribute.at);
        before.len = piece_find(p->line, dotted);
    } else if (p->d->location.column > 0 && p->d->location.end_column > p->d->location.column) {
        /* Python points at the brackets; what they are applied to stands before them. */
        size_t at = p->d->location.column - 1;
        if (at > 0 && at < before.len &&
            match(p->g, "[\\w)\\]]$", (struct piece){ before.at, at }, &m))
            before.len = at;
    }
    if (before.len < p->line.len && match(p->g, "\\)\\s*$", before, &m)) { /* a call, at once */
        const char *why = nothing_of(before);
        struct piece call = last_call(before);
        if (!own_nothing(p, call.at ? call : before, NULL, 0))
            suggest(p->d, 4, why ? 0.92 : 0.5, "%s%s.",
                    why ? "" : "The call before it returned None: ",
                    why ? why : "test the result first");
        return;
    }
    if (before.len < p->line.len && match(p->g, "([A-Za-z_][\\w.]*)$", before, &m)) {
        blame_name(p, m.group[0]);
        return;
    }
    struct piece rest = p->line; /* the first name in the line that was given None */
    while (match(p->g, "([A-Za-z_]\\w*)", rest, &m)) {
        struct piece value;
        uint32_t number;
        if (py_assigned(p, m.group[0], &value, &number) &&
            (nothing_of(value) || piece_is(piece_trim(value), "None") || piece_has(value, "("))) {
            blame_name(p, m.group[0]);
            return;
        }
        size_t used = (size_t)(m.all.at + m.all.len - rest.at);
        rest.at += used;
        rest.len -= used;
    }
    /* What a line prints is no None; and what print() gives is not used here. */
    const char *why = piece_has(p->line, "print(") ? NULL : nothing_of(p->line);
    if (!own_nothing(p, p->line, NULL, 0))
        suggest(
            p->d, 4, why ? 0.8 : 0.4, "%s.",
            why ? why
                : "Something here is None: a call found nothing, or a function has no `return`");
}

/* ---- attributes ---- */

/* What people write from habit of other languages, or of older versions. */
static const struct {
    const char *type, *attribute, *advice;
    const char *swap; /* in place of the attribute; NULL: not that simple */
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
    { "list", "includes", "Ask with `in`: v in x", NULL },
    { "list", "contains", "Ask with `in`: v in x", NULL },
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
    { "str", "contains", "Ask with `in`: part in x", NULL },
    { "str", "includes", "Ask with `in`: part in x", NULL },
    { "str", "trim", "In Python it is strip()", "strip" },
    { "str", "toUpperCase", "In Python it is upper()", "upper" },
    { "str", "toLowerCase", "In Python it is lower()", "lower" },
    { "str", "substring", "Take a part by x[from:to]", NULL },
    { "str", "charAt", "Take a character by x[i]", NULL },
    { "str", "append", "Strings do not change: use += or collect a list and ''.join(it)", NULL },
    { "str", "reverse", "Strings do not change: x[::-1] is the reverse", NULL },
    { "str", "sort", "Strings do not change: ''.join(sorted(x))", NULL },
    { "str", "decode", "It is text already: decode() is for bytes", NULL },
    { "bytes", "encode", "They are bytes already: encode() is for str", NULL },
    { "str", "push", "Strings do not change: use += or a list", NULL },
    { "str", "items", "It is a str, not a dict: json.loads(x) makes a dict of JSON", NULL },
    { "str", "keys", "It is a str, not a dict: json.loads(x) makes a dict of JSON", NULL },
    { "str", "get", "It is a str, not a dict: json.loads(x) makes a dict of JSON", NULL },
    { "str", "isnumber", "In Python it is isnumeric() or isdigit()", "isdigit" },
    { "str", "days", "It is text, not a date: datetime.strptime(x, format) makes one", NULL },
    { "str", "strftime", "It is text, not a date: datetime.strptime(x, format) makes one", NULL },
    { "dict", "has_key", "Ask with `in`: key in x", NULL },
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
    { "tuple", "append", "Tuples do not change: make a list, or x + (v,)", NULL },
    { "tuple", "sort", "Tuples do not change: tuple(sorted(x))", NULL },
    { "tuple", "remove", "Tuples do not change: make a list of it first", NULL },
    { "generator", "next", "In Python 3 it is next(x)", NULL },
    { "generator", "append", "It is a generator, not a list: list(x) makes one", NULL },
    { "map", "append", "map() gives an iterator: list(map(...)) makes a list", NULL },
    { "map", "sort", "map() gives an iterator: sorted(map(...)) is a sorted list", NULL },
    { "filter", "append", "filter() gives an iterator: list(filter(...)) makes a list", NULL },
    { "zip", "append", "zip() gives an iterator: list(zip(...)) makes a list", NULL },
    { "int", "append", "It is a number, not a list: was the list overwritten?", NULL },
    { "int", "split", "It is a number, not text: str(x) makes text of it", NULL },
    { "int", "isdigit", "It is a number already: isdigit() is for text", NULL },
    { "int", "strip", "It is a number, not text", NULL },
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

/* `df = df.append(x)` as the line that works now. */
static void offer_concat(struct py *p)
{
    struct match m;
    if (match(
            p->g,
            "^(\\s*(?:[\\w.]+\\s*=\\s*)?)([\\w.]+)\\.append\\((.+?)(, ignore_index=True)?\\)\\s*$",
            p->line, &m))
        suggest_replacement(p->d, "%.*spd.concat([%.*s, %.*s], ignore_index=True)", P(m.group[0]),
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

void py_not_awaited(struct py *p)
{
    suggest(p->d, 26, 0.92,
            "It is a coroutine that was not awaited: put `await` before the call (inside `async "
            "def`), or asyncio.run() it.");
}

static void on_attribute(struct py *p)
{
    struct piece type = p->m.group[0], name = p->m.group[1], hint;
    if (piece_is(type, "NoneType"))
        return;
    if (piece_is(type, "coroutine")) {
        py_not_awaited(p);
        return;
    }
    for (size_t i = 0; i < ARRAY_LEN(habits); i++)
        if (piece_is(type, habits[i].type) && piece_is(name, habits[i].attribute)) {
            suggest(p->d, rule_of_habit(habits[i].type), 0.94, "%s.", habits[i].advice);
            if (habits[i].swap)
                (void)suggest_swap(p->in, p->d, name, habits[i].swap);
            else if (strcmp(habits[i].type, "DataFrame") == 0)
                offer_concat(p);
            return;
        }
    struct nearest n = { .name = name };
    for (size_t i = 0; i < ARRAY_LEN(attributes); i++)
        if (piece_is(type, attributes[i].type))
            nearest_try_list(&n, attributes[i].names);
    if (py_hint(p, &hint))
        COPY(hint, n.best);
    else if (!n.best[0])
        nearest_try_sources(&n, p->in);
    struct piece line;
    uint32_t number;
    const struct source_file *f;
    if (n.best[0]) {
        suggest(p->d, 5, 0.9, "Did you mean '.%s'?", n.best);
        (void)suggest_swap(p->in, p->d, name, n.best);
    } else if (py_defined(p, type, &line, &number, &f)) {
        suggest(p->d, 5, 0.7,
                "The class %.*s (line %u of %s) gives its objects no '%.*s': set self.%.*s in "
                "__init__, or define it there.",
                P(type), number, f->name, P(name), P(name));
    } else {
        suggest(
            p->d, 5, 0.4,
            "A %.*s has no '%.*s': dir(x) lists what it has; type(x) may not be what was expected.",
            P(type), P(name));
    }
}

static void on_module_name(struct py *p)
{
    struct piece module = p->m.group[0], name = p->m.group[1], hint;
    static const char *const plain[] = { "float",   "int",  "bool",    "object", "str",
                                         "complex", "long", "unicode", NULL };
    if (piece_is(module, "numpy") && piece_among(name, plain)) {
        char old[32];
        (void)snprintf(old, sizeof old, "np.%.*s", P(name));
        bool py2 = piece_is(name, "long") || piece_is(name, "unicode");
        char now[32];
        COPY(py2 ? piece_of(piece_is(name, "long") ? "int" : "str") : name, now);
        suggest(p->d, 7, 0.95,
                "np.%.*s was removed in NumPy 1.24: it was Python's own `%s`; for a fixed width "
                "use np.%s.",
                P(name), now,
                piece_is(name, "float")  ? "float64"
                : piece_is(name, "int")  ? "int64"
                : piece_is(name, "bool") ? "bool_"
                                         : "dtype");
        (void)suggest_swap(p->in, p->d, piece_of(old), now);
        return;
    }
    char best[128] = "";
    if (py_hint(p, &hint))
        COPY(hint, best);
    if (best[0]) {
        suggest(p->d, 5, 0.9, "Did you mean '%.*s.%s'?", P(module), best);
        (void)suggest_swap(p->in, p->d, name, best);
        return;
    }
    char file[160];
    (void)snprintf(file, sizeof file, "%.*s.py", P(module));
    const struct source_file *own = find_source(p->in, piece_of(file));
    struct nearest n = { .name = name };
    struct diagnose_input alone = *p->in;
    alone.sources = own;
    alone.n_sources = own != NULL;
    nearest_try_sources(&n, &alone);
    if (n.best[0]) {
        suggest(p->d, 5, 0.85, "Did you mean '%.*s.%s'?", P(module), n.best);
        (void)suggest_swap(p->in, p->d, name, n.best);
    } else {
        suggest(p->d, 5, 0.4,
                "The module has no '%.*s': it may be a module of its own (import %.*s.%.*s), or of "
                "another version.",
                P(name), P(module), P(name));
    }
}

const struct py_rule py_object_rules[] = {
    { "AttributeError", "^'NoneType' object has no attribute '(\\w+)'", .advise = on_none },
    { "TypeError",
      "^'NoneType' object is not|^object of type 'NoneType'|^cannot unpack non-iterable "
      "NoneType|^argument of type 'NoneType'|'NoneType' and|and 'NoneType'|^'NoneType' object "
      "does|(?:not|concatenate \\w+ \\(not) \"?NoneType",
      .advise = on_none },
    { "AttributeError", "^'([\\w.]+)' object has no attribute '(\\w+)'", .advise = on_attribute },
    { "AttributeError", "^type object '([\\w.]+)' has no attribute '(\\w+)'",
      .advise = on_attribute },
    { "AttributeError", "^module '([\\w.]+)' has no attribute '(\\w+)'", .advise = on_module_name },
    { 0 },
};
