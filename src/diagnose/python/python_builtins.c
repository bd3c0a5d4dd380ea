/* Rules for built-in types, and for functions whose arguments are often mixed up. Runs in: keeper. */
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "diagnose/python/python.h"
#include "diagnose/python_builtins.words.h" /* generated */

/* ---- text and bytes ---- */

static bool uses(const struct advice *a, const char *word)
{
    return a->file && piece_has(text_of_source(a->file), word);
}

static void on_text_and_bytes(const struct advice *a)
{
    suggest(a->d, 23, 0.93,
            "One value is text and the other one is bytes: data.decode() makes text, text.encode() "
            "makes bytes%s.",
            uses(a, "subprocess") ? "; subprocess returns text with text=True" : "");
}

static void on_bytes_wanted(const struct advice *a)
{
    struct match m;
    if (match(a->g, "\\.writerows?\\(|\\.writeheader\\(", a->line, &m))
        suggest(a->d, 23, 0.93,
                "csv writes text, and the file was opened for bytes: open it with \"w\" and "
                "newline=\"\", without the b.");
    else if (match(a->g, "\\b(?:json|yaml)\\.dump\\(", a->line, &m))
        suggest(a->d, 23, 0.93,
                "dump() writes text, and the file was opened for bytes: open it with \"w\", "
                "without the b.");
    else if (match(a->g, "\\.write(?:lines)?\\(", a->line, &m) &&
             (uses(a, "gzip.open(") || uses(a, "bz2.open(") || uses(a, "lzma.open(")))
        suggest(a->d, 23, 0.93,
                "\"w\" of gzip.open() and its like is for bytes: open it with \"wt\", which is for "
                "text, "
                "or write text.encode().");
    else if (match(a->g, "\\.write(?:lines)?\\(", a->line, &m) && uses(a, "TemporaryFile("))
        suggest(a->d, 23, 0.93,
                "A temporary file is opened for bytes: give mode=\"w+\" for text, or write "
                "text.encode().");
    else if (match(a->g, "\\binput=", a->line, &m) && uses(a, "subprocess"))
        suggest(a->d, 23, 0.93,
                "subprocess takes its input as bytes: add text=True to the call, or give "
                "text.encode().");
    else if (match(a->g, "\\.write(?:lines)?\\(", a->line, &m))
        suggest(a->d, 23, 0.92,
                "The file was opened for bytes: write text.encode(), or open it for text, with "
                "\"w\" and without the b.");
    else if (match(a->g,
                   "\\.(?:split|rsplit|splitlines|replace|strip|find|index|count|partition)\\(",
                   a->line, &m) ||
             match(a->g, "\\bin\\b", a->line, &m))
        suggest(a->d, 23, 0.92,
                "The value is bytes, not text: data.decode() makes text of it%s; or give bytes, "
                "b\"...\".",
                uses(a, "subprocess") ? " (subprocess returns text with text=True)" : "");
    else
        suggest(a->d, 23, 0.9, "The function takes bytes, not text: encode it, text.encode().");
}

static void on_real_number(const struct advice *a)
{
    if (!piece_is(a->m.group[0], "NoneType"))
        suggest(a->d, 13, 0.85,
                "The function takes a number, and the value has the type %.*s: convert it first.",
                P(a->m.group[0]));
}

static void on_sleep(const struct advice *a)
{
    if (match(a->g, "\\.sendto\\(", a->line, &(struct match){ 0 })) {
        suggest(a->d, 10, 0.94,
                "sendto() takes the data and one address, a tuple: sendto(data, (host, port)).");
        return;
    }
    if (piece_has(a->line, "sleep("))
        suggest(a->d, 13, 0.94, "sleep() takes a number: convert the text, float(...).");
}

/* random.choice() of a dict looks for a position. */
static void on_choice(const struct advice *a)
{
    if (piece_has(a->line, "choice("))
        suggest(a->d, 8, 0.93,
                "random.choice() takes a list, and this is a dict: choice(list(x)) chooses a key, "
                "choice(list(x.values())) a value.");
}

/* n[::-1] of a number. */
static void on_number_index(const struct advice *a)
{
    struct match m;
    if (match(a->g, "([A-Za-z_]\\w*)\\[[^\\]]*:[^\\]]*\\]", a->line, &m))
        suggest(
            a->d, 12, 0.9,
            "The value is a number, and only text and lists have parts: str(%.*s) makes text of "
            "its digits.",
            P(m.group[0]));
}

/* ---- collections ---- */

/* asyncio.gather([a(), b()]): a list where several values are taken. */
static void on_gather_list(const struct advice *a)
{
    struct match m;
    if (match(a->g, "\\bgather\\(\\s*(\\[|\\w+\\s*[,)])", a->line, &m))
        suggest(a->d, 26, 0.94,
                "gather() takes the coroutines one by one: put a star before the list, "
                "asyncio.gather(*coroutines).");
}

/* sum() of values that are no numbers: it begins with 0, so Python names an int. */
static void on_sum(const struct advice *a)
{
    if (piece_is(a->m.group[0], "coroutine")) {
        if (match(a->g, "\\bsum\\(", a->line, &(struct match){ 0 }))
            suggest(a->d, 26, 0.94,
                    "The items are coroutines that were not awaited: results = await "
                    "asyncio.gather(*items) gives their results.");
        return;
    }
    struct piece type = a->m.group[0];
    struct match m;
    if (piece_is(type, "NoneType") || !match(a->g, "\\bsum\\(", a->line, &m))
        return;
    if (piece_is(type, "dict"))
        suggest(a->d, 11, 0.93,
                "sum() adds the items, and they are dicts: name the value to add, sum(x[\"name\"] "
                "for x in items).");
    else if (piece_is(type, "str"))
        suggest(a->d, 11, 0.93,
                "sum() adds numbers, and the items are text: sum(float(x) for x in items) adds "
                "them as numbers, \"\".join(items) joins them.");
    else if (piece_is(type, "list"))
        suggest(a->d, 11, 0.93,
                "sum() adds numbers, and the items are lists: sum(items, []) or a comprehension, "
                "[x for part in items for x in part], joins them.");
    else if (piece_is(type, "tuple"))
        suggest(a->d, 11, 0.93,
                "sum() adds numbers, and the items are tuples: name the part to add, sum(x[1] for "
                "x in items).");
    else
        suggest(a->d, 11, 0.9,
                "sum() adds numbers, and the items have the type %.*s: name the value to add, "
                "sum(x.name for x in items).",
                P(type));
}

static void on_join_lists(const struct advice *a)
{
    static const char *const collections[] = { "list",      "tuple", "set",         "dict_keys",
                                               "range",     "dict",  "dict_values", "map",
                                               "frozenset", "zip",   "generator",   "filter",
                                               NULL };
    struct piece own = a->m.group[0], other = a->m.group[1];
    bool list = piece_is(own, "list");
    if (piece_is(other, "NoneType") || piece_is(other, "coroutine"))
        return;
    if (piece_among(other, collections))
        suggest(a->d, 11, 0.92,
                "A %.*s can only be joined with another %.*s: write %.*s(...) around the %.*s.",
                P(own), P(own), P(own), P(other));
    else if (piece_is(other, "ndarray") || piece_is(other, "numpy.ndarray"))
        suggest(a->d, 11, 0.9, "A list and an array are joined with np.concatenate([a, b]).");
    else
        suggest(a->d, 11, 0.92,
                "A %.*s can only be joined with another %.*s: put the value in brackets, %s%s.",
                P(own), P(own), list ? "x + [value]" : "x + (value,)",
                list ? ", or call x.append(value)" : "");
}

/* map(items, f): the function comes first. */
static void on_map_order(const struct advice *a)
{
    struct match m;
    struct piece value;
    uint32_t number;
    if (!match(a->g, "(?:\\b|\\.)(map|filter)\\(\\s*([\\[({\"']|range\\(|\\w+)", a->line, &m))
        return;
    struct piece first = m.group[1];
    if (match(a->g, "^\\w+$", first, &(struct match){ 0 }) &&
        !(py_assigned(a, first, &value, &number) && py_items(piece_trim(value)) >= 0))
        return;
    suggest(a->d, 12, 0.93, "The function comes first, then the values: %.*s(function, items).",
            P(m.group[0]));
}

static void on_heap(const struct advice *a)
{
    if (piece_has(a->line, "heap"))
        suggest(a->d, 9, 0.92, "The heap is empty: test it first, `while heap:` or `if heap:`.");
}

/* for a, b, c in enumerate(x): pairs that three names take. */
static void on_enumerate_names(const struct advice *a)
{
    struct match m;
    if (!match(a->g,
               "\\bfor ((?:\\w+\\s*,\\s*){2,}\\w+) in (enumerate|[\\w.\\[\\]\"']+\\.items)\\(",
               a->line, &m))
        return;
    bool enumerates = piece_is(m.group[1], "enumerate");
    suggest(a->d, 14, 0.93,
            "%s() gives two values in each round, %s: put the names of the item in brackets, `for "
            "%s, (a, b) in ...`.",
            enumerates ? "enumerate" : "items",
            enumerates ? "a position and an item" : "a key and a value", enumerates ? "i" : "key");
}

static void on_count_given(const struct advice *a)
{
    if (piece_is(a->m.group[0], "sum"))
        suggest(a->d, 10, 0.94, "sum() takes one list: put the numbers in brackets, sum([a, b]).");
    else
        suggest(a->d, 10, 0.85, "%.*s: add or remove arguments.", P(a->message));
}

/* ---- classes ---- */

/* Whether the class of the program has a method of that name. */
static bool class_defines(const struct advice *a, struct piece class, const char *method)
{
    struct piece head, line;
    uint32_t number;
    const struct source_file *f;
    struct match m;
    if (!py_defined(a, class, &head, &number, &f) || !starts_with(head, "class "))
        return false;
    struct piece rest = text_of_source(f);
    size_t own = 0;
    for (uint32_t i = 1; i < LINES_SEEN && next_line(&rest, &line); i++) {
        if (i == number)
            own = indent_of(line);
        if (i <= number || piece_trim(line).len == 0)
            continue;
        if (indent_of(line) <= own)
            return false;
        if (match(a->g, "^\\s*(?:async )?def (\\w+)|^\\s*(__slots__)\\s*=", line, &m) &&
            piece_is(m.group[0].at ? m.group[0] : m.group[1], method))
            return true;
    }
    return false;
}

static bool is_own_class(const struct advice *a, struct piece class)
{
    struct piece head;
    uint32_t number;
    const struct source_file *f;
    return py_defined(a, class, &head, &number, &f) && starts_with(head, "class ");
}

static void on_fixed_field(const struct advice *a)
{
    if (uses(a, "namedtuple(") || uses(a, "NamedTuple"))
        suggest(a->d, 33, 0.93,
                "The fields of a named tuple cannot be changed: x = x._replace(name=value) makes a "
                "new one; a dataclass has fields that can be changed.");
    else
        suggest(a->d, 33, 0.85,
                "The attribute is read-only: a property needs a setter, and other values are set "
                "when the object is made.");
}

static void on_slots(const struct advice *a)
{
    if (class_defines(a, a->m.group[0], "__slots__") &&
        match(a->g, "=", a->line, &(struct match){ 0 }))
        suggest(a->d, 5, 0.93,
                "%.*s has __slots__, which names all the attributes that its objects can have: add "
                "'%.*s' there.",
                P(a->m.group[0]), P(a->m.group[1]));
}

static void on_in_object(const struct advice *a)
{
    if (is_own_class(a, a->m.group[0]))
        suggest(a->d, 12, 0.92,
                "The right side of `in` is an object of the class %.*s: use the attribute that "
                "holds its items, or define __contains__ in the class.",
                P(a->m.group[0]));
}

static void on_async_with(const struct advice *a)
{
    struct piece type = a->m.group[0];
    if (class_defines(a, type, "__enter__"))
        suggest(a->d, 12, 0.93,
                "%.*s has __enter__ and __exit__, so its objects stand in a plain `with`; `async "
                "with` calls __aenter__ and __aexit__.",
                P(type));
    else if (starts_with(type, "_thread.") || piece_is(type, "Lock") || piece_is(type, "RLock"))
        suggest(a->d, 12, 0.94,
                "A lock of threading stands in a plain `with`: for tasks of asyncio use "
                "asyncio.Lock().");
    else if (starts_with(type, "_io."))
        suggest(a->d, 12, 0.93,
                "A file of open() stands in a plain `with`: the package aiofiles has files for "
                "`async with`.");
    else
        suggest(a->d, 12, 0.88,
                "`async with` needs an object with __aenter__ and __aexit__: write a plain `with` "
                "if the object has __enter__ and __exit__.");
}

static void on_with(const struct advice *a)
{
    struct piece type = a->m.group[0];
    if (class_defines(a, type, "__aenter__"))
        suggest(a->d, 12, 0.93,
                "%.*s has __aenter__ and __aexit__, so its objects stand in `async with`.",
                P(type));
    else if (is_own_class(a, type))
        suggest(a->d, 12, 0.92,
                "`with` calls the methods __enter__ and __exit__: define both in %.*s, `def "
                "__enter__(self): return self` and `def __exit__(self, *error): ...`.",
                P(type));
    else if (piece_is(type, "generator"))
        suggest(a->d, 12, 0.93,
                "The function is a generator: put @contextlib.contextmanager above its `def`.");
}

/* The members of an Enum of the program: "RED, GREEN". False for another class. */
static bool members_of(const struct advice *a, struct piece class, char *out, size_t size,
                       struct similar *near)
{
    struct piece head, line;
    uint32_t number;
    const struct source_file *f;
    struct match m;
    if (!py_defined(a, class, &head, &number, &f) ||
        !match(a->g, "^class \\w+\\((?:.*\\b)?(?:Int|Str)?(?:Enum|Flag)\\b", head, &m))
        return false;
    size_t used = 0;
    unsigned n = 0;
    for (uint32_t i = number + 1; i < number + LINES_NEAR; i++) {
        line = source_line(f, i);
        if (!line.at || (piece_trim(line).len > 0 && indent_of(line) == 0))
            break;
        if (!match(a->g, "^\\s+([A-Za-z]\\w*)\\s*=[^=]", line, &m))
            continue;
        similar_try(near, m.group[0]);
        if (n < 6 && used + m.group[0].len + 3 < size)
            used += (size_t)snprintf(out + used, size - used, "%s%.*s", n++ ? ", " : "",
                                     P(m.group[0]));
    }
    return n > 0;
}

static void say_members(const struct advice *a, struct piece class, struct piece name)
{
    char members[160] = "";
    struct similar near = { .name = name };
    if (!members_of(a, class, members, sizeof members, &near))
        return;
    if (near.best[0]) {
        suggest(a->d, 5, 0.93, "Did you mean '%s'? The members of %.*s are %s.", near.best,
                P(class), members);
        (void)suggest_swap(a->in, a->d, name, near.best);
    } else {
        suggest(a->d, 5, 0.92, "The Enum %.*s has no member '%.*s': its members are %s.", P(class),
                P(name), members);
    }
}

static void on_enum_member(const struct advice *a)
{
    struct piece name = a->m.group[0], rest = a->line;
    struct match m;
    while (rest.len > 0 && match(a->g, "([A-Za-z_]\\w*)\\.(\\w+)", rest, &m)) {
        if (piece_same(m.group[1], name)) {
            say_members(a, m.group[0], name);
            return;
        }
        rest = piece_after(rest, m.group[0]);
    }
}

bool py_advise_member(const struct advice *a, struct piece key)
{
    struct match m;
    size_t before = a->d->n_suggestions;
    if (match(a->g, "\\b([A-Za-z_]\\w*)\\[", a->line, &m))
        say_members(a, m.group[0], key);
    return a->d->n_suggestions > before;
}

bool py_advise_removal(const struct advice *a)
{
    struct match m;
    if (match(a->g, "pop from an empty|is empty$", a->message, &m))
        return false;
    if (match(a->g, "^\\s*del ([\\w.]+)\\[(.+)\\]\\s*$", a->line, &m)) {
        suggest(a->d, 8, 0.92,
                "'%.*s' has no such key: %.*s.pop(%.*s, None) removes it only if it is there.",
                P(m.group[0]), P(m.group[0]), P(m.group[1]));
        suggest_replacement(a->d, "%.*s%.*s.pop(%.*s, None)",
                            P(piece_cut(a->line, indent_of(a->line))), P(m.group[0]),
                            P(m.group[1]));
        return true;
    }
    if (match(a->g, "([\\w.]+)\\.pop\\(([^(),]+)\\)", a->line, &m)) {
        suggest(a->d, 8, 0.92,
                "'%.*s' has no such key: give pop() a value for that case, %.*s.pop(%.*s, None).",
                P(m.group[0]), P(m.group[0]), P(m.group[1]));
        return true;
    }
    if (match(a->g, "([\\w.]+)\\.remove\\(([^()]+)\\)", a->line, &m) &&
        !match(a->g, "\\[", a->line, &(struct match){ 0 })) {
        suggest(a->d, 8, 0.92,
                "The set '%.*s' has no such value: %.*s.discard(%.*s) removes it only if it is "
                "there.",
                P(m.group[0]), P(m.group[0]), P(m.group[1]));
        return true;
    }
    return false;
}

/* ---- calls ---- */

/* How many arguments a lambda of the line takes, and how many it gets. */
static void on_lambda(const struct advice *a)
{
    struct match m;
    if (match(a->g, "takes (\\d+|from \\d+ to \\d+) positional arguments? but (\\d+) w", a->message,
              &m))
        suggest(a->d, 10, 0.92,
                "The lambda has %.*s parameter%s and is called with %.*s value%s: give it one "
                "parameter for each value, such as `lambda a, b: ...` for two.",
                P(m.group[0]), piece_is(m.group[0], "1") ? "" : "s", P(m.group[1]),
                piece_is(m.group[1], "1") ? "" : "s");
    else if (match(a->g, "missing (\\d+) required positional arguments?: (.+)$", a->message, &m))
        suggest(a->d, 10, 0.92,
                "The lambda has more parameters than it is called with: no value is given for "
                "%.*s. Remove that parameter, or pass a value where the function is called.",
                P(m.group[1]));
}

static void on_super_self(const struct advice *a)
{
    if (!match(a->g, "super\\(\\)\\.__init__\\(\\s*self\\b", a->line, &(struct match){ 0 }))
        return;
    suggest(a->d, 10, 0.95, "super() passes the object by itself: remove `self` from the call.");
    if (!suggest_swap(a->in, a->d, PIECE("__init__(self, "), "__init__("))
        (void)suggest_swap(a->in, a->d, PIECE("__init__(self)"), "__init__()");
}

/* `args.dry-run`, and options that the program does not define. */
static void on_namespace(const struct advice *a)
{
    struct piece name = a->m.group[0], rest = text_of_source(a->file), line;
    struct similar near = { .name = name };
    struct match m;
    char option[64];
    for (unsigned i = 0; i < LINES_SEEN && next_line(&rest, &line); i++) {
        if (!match(a->g, "add_argument\\(\\s*(?:[\"']-\\w[\"'],\\s*)?[\"']-{0,2}([\\w-]+)[\"']",
                   line, &m))
            continue;
        if (starts_with(m.group[0], "-") || m.group[0].len >= sizeof option)
            continue;
        COPY(m.group[0], option);
        if (has_word(a->line, name) && piece_has(a->line, option) && strchr(option, '-')) {
            char now[64];
            COPY(piece_of(option), now);
            for (char *c = now; *c; c++)
                *c = *c == '-' ? '_' : *c;
            suggest(a->d, 5, 0.95,
                    "A dash becomes an underscore in the name of an attribute: write `.%s`.", now);
            (void)suggest_swap(a->in, a->d, piece_of(option), now);
            return;
        }
        for (char *c = option; *c; c++)
            *c = *c == '-' ? '_' : *c;
        similar_try(&near, piece_of(option));
    }
    if (near.best[0]) {
        suggest(a->d, 5, 0.92, "Did you mean '.%s'? No add_argument() defines '%.*s'.", near.best,
                P(name));
        (void)suggest_swap(a->in, a->d, name, near.best);
    } else {
        suggest(a->d, 5, 0.88,
                "No add_argument() defines '%.*s': add it, or read an option that is defined.",
                P(name));
    }
}

static void on_path_attribute(const struct advice *a)
{
    const char *advice = text_for(path_attributes, a->m.group[0]);
    if (advice)
        suggest(a->d, 5, 0.93, "The value is a Path, not text: %s.", advice);
}

/* ---- the standard library ---- */

static void on_named_group(const struct advice *a)
{
    struct match m;
    if (match(a->g, "\\.(?:group|start|end|span)\\(\\s*[\"'](\\w+)", a->line, &m))
        suggest(a->d, 0, 0.93,
                "The pattern has no group with the name '%.*s': name it there, (?P<%.*s>...).",
                P(m.group[0]), P(m.group[0]));
}

/* A directory is missing, or a file that is to be moved. */
static void on_missing_path(const struct advice *a)
{
    struct piece path = a->m.group[0], target = a->m.group[1];
    struct match m;
    if (target.at) {
        bool deep = match(a->g, "^(.+)/[^/]+$", target, &m);
        suggest(a->d, 22, 0.88,
                "There is no '%.*s' in /sandbox, where the program starts%s%.*s%s: write or send "
                "the file first%s.",
                P(path), deep ? ", or the directory '" : "", P(deep ? m.group[0] : NO_PIECE),
                deep ? "' is not there" : "", deep ? ", and make the directory" : "");
        return;
    }
    struct match loop;
    uint32_t listed = line_above_with(
        a, "\\bfor (\\w+) in (?:sorted\\()?os\\.(?:listdir|walk)\\(([^()]+)\\)", &loop);
    if (listed && listed != a->d->location.line && !piece_has(path, "/") &&
        has_word(a->line, loop.group[0]) && !piece_has(a->line, "join(")) {
        suggest(a->d, 22, 0.94,
                "os.listdir() gives names without their directory: open os.path.join(%.*s, %.*s).",
                P(loop.group[1]), P(loop.group[0]));
        return;
    }
    if (match(a->g, "\\bos\\.mkdir\\(", a->line, &m) && piece_has(path, "/"))
        suggest(a->d, 22, 0.94,
                "A directory above '%.*s' is not there: os.makedirs(path, exist_ok=True) makes all "
                "of them.",
                P(path));
    else if (match(a->g, "\\.mkdir\\(", a->line, &m) && piece_has(path, "/"))
        suggest(a->d, 22, 0.94,
                "A directory above '%.*s' is not there: mkdir(parents=True, exist_ok=True) makes "
                "all of them.",
                P(path));
    else if (match(a->g, "\\b(?:listdir|scandir|chdir|rmtree|rmdir|iterdir)\\(", a->line, &m) &&
             !starts_with(path, "/"))
        suggest(a->d, 22, 0.9,
                "There is no directory '%.*s' in /sandbox, where the program starts: make it "
                "first, os.makedirs(path, exist_ok=True), or send files in it with the run.",
                P(path));
}

/* df["a", "b"]: several columns are a list. */
static void on_columns_asked(const struct advice *a)
{
    struct match m;
    char old[200], now[200];
    if (!uses(a, "pandas") || value_is(value_of(a->d, py_container(a)), "dict") ||
        !match(a->g, "([A-Za-z_]\\w*)\\[((?:[\"'][^\"']*[\"']\\s*,\\s*)+[\"'][^\"']*[\"'])\\]",
               a->line, &m))
        return;
    suggest(a->d, 8, 0.95,
            "Several columns are given as a list: put them in brackets of their own, "
            "%.*s[[...]].",
            P(m.group[0]));
    (void)snprintf(old, sizeof old, "%.*s", P(piece_cut(m.all, 190)));
    (void)snprintf(now, sizeof now, "%.*s[[%.*s]]", P(m.group[0]), P(m.group[1]));
    (void)suggest_swap(a->in, a->d, piece_of(old), now);
}

/* DictWriter.writerow() of a list. */
static void on_row_list(const struct advice *a)
{
    if (uses(a, "DictWriter("))
        suggest(a->d, 5, 0.94,
                "writerow() of a DictWriter takes a dict: {\"name\": value}; csv.writer() takes "
                "lists.");
}

static void on_directory(const struct advice *a)
{
    if (match(a->g, "\\bshutil\\.copy(?:2|file)?\\(", a->line, &(struct match){ 0 }))
        suggest(a->d, 22, 0.94,
                "'%.*s' is a directory: shutil.copytree(a, b) copies a directory, copy() one file.",
                P(a->m.group[0]));
    else if (match(a->g, "\\bos\\.(?:remove|unlink)\\(|\\.unlink\\(", a->line,
                   &(struct match){ 0 }))
        suggest(a->d, 22, 0.94,
                "'%.*s' is a directory: shutil.rmtree(path) removes it with its files, "
                "os.rmdir(path) an "
                "empty one.",
                P(a->m.group[0]));
}

static void on_existing(const struct advice *a)
{
    if (match(a->g, "\\bcopytree\\(", a->line, &(struct match){ 0 }))
        suggest(a->d, 22, 0.94,
                "'%.*s' is there already: copytree(a, b, dirs_exist_ok=True) copies into it.",
                P(a->m.group[0]));
    else if (match(a->g, "\\.mkdir\\(", a->line, &(struct match){ 0 }) &&
             !piece_has(a->line, "os.mkdir("))
        suggest(a->d, 22, 0.94, "'%.*s' is there already: path.mkdir(exist_ok=True) accepts that.",
                P(a->m.group[0]));
}

/* A value that stands in the SQL without quotes. */
static void on_sql_value(const struct advice *a)
{
    struct match m;
    struct piece value, code = a->line;
    uint32_t number;
    if (match(a->g, "\\bexecute\\(\\s*(\\w+)\\s*[,)]", a->line, &m) &&
        py_assigned(a, m.group[0], &value, &number))
        code = value;
    if (!has_word(code, a->m.group[0]) && !has_word(a->line, a->m.group[0]) &&
        match(a->g, "\\bf(?:\"|')[^\"']*\\{|[\"'] ?% ?[\\w(]|\\.format\\(|[\"'] ?\\+ ?\\w", code,
              &m))
        suggest(
            a->d, 10, 0.94,
            "The value '%.*s' stands in the SQL as it is, without quotes: write a ? for it and "
            "pass it "
            "beside the SQL, execute(\"... WHERE name = ?\", (value,)). That also keeps SQL out of "
            "values.",
            P(a->m.group[0]));
}

/* Values that are known by name: of a Template, of a configuration. */
static void on_named_values(const struct advice *a)
{
    struct match m;
    struct piece key = a->m.group[0], value;
    uint32_t number;
    if (match(a->g, "\\.substitute\\(", a->line, &m)) {
        suggest(a->d, 8, 0.93,
                "The template has $%.*s, and substitute() gets no value of that name: give "
                "%.*s=..., or use "
                "safe_substitute(), which leaves it as it is.",
                P(key), P(key));
        return;
    }
    if (!uses(a, "ConfigParser(") || !match(a->g, "\\b([A-Za-z_]\\w*)\\[", a->line, &m) ||
        !py_assigned(a, m.group[0], &value, &number) || !piece_has(value, "ConfigParser("))
        return;
    suggest(a->d, 8, 0.92,
            "The configuration has no '%.*s': read() passes over files that are not there, and "
            "%.*s.sections() lists the sections that were read. %.*s.get(section, name, "
            "fallback=...) gives a "
            "default.",
            P(key), P(m.group[0]), P(m.group[0]));
}

#include "diagnose/python_builtins.rules.h" /* generated */
