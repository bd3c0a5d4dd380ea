/* Rules for None, and for attributes that an object does not have. Runs in: keeper. */
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "diagnose/python/python.h"
#include "diagnose/python_objects.words.h" /* generated */

/* ---- None ---- */

static const char *reason_for_none(struct piece code)
{
    const struct word_pair *p = pair_in(none_calls, code);
    return p ? p->text : NULL;
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
    while (at > 0 && (piece_byte(code, at - 1) == ' ' || piece_byte(code, at - 1) == '\t'))
        at--;
    if (at == 0 || piece_byte(code, at - 1) != ')')
        return NO_PIECE;
    while (at > 0) {
        char c = piece_byte(code, --at);
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
        before = piece_cut(a->line, piece_find(a->line, dotted));
    } else if (a->d->location.column > 0 && a->d->location.end_column > a->d->location.column) {
        /* Python points at the brackets; the indexed value stands before them. */
        size_t at = a->d->location.column - 1;
        if (at > 0 && at < before.len && match(a->g, "[\\w)\\]]$", piece_cut(before, at), &m))
            before = piece_cut(before, at);
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

/* The program has the name as a key. */
static bool advise_item(const struct advice *a, struct piece type, struct piece name)
{
    char of_item[80], key[80];
    if (!piece_is(type, "dict") || name.len > 60)
        return false;
    (void)snprintf(of_item, sizeof of_item, "[\"%.*s\"]", P(name));
    (void)snprintf(key, sizeof key, ".%.*s", P(name));
    size_t at = 0;
    while (at < a->line.len && !starts_with(piece_skip(a->line, at), key))
        at++;
    if (at == a->line.len || piece_at(a->line, at + 1 + name.len + 1) == '(')
        return false;
    suggest(a->d, 5, 0.9, "A dict has items, no attributes of its own: write %s for `.%.*s`.",
            of_item, P(name));
    suggest_replacement(a->d, "%.*s%s%.*s", P(piece_cut(a->line, at)), of_item,
                        P(piece_skip(a->line, at + 1 + name.len)));
    return true;
}

/* `class B(A)` has an __init__ of its own, which does not call that of A, and A sets the attribute. */
static bool advise_base_class(const struct advice *a, struct piece type, struct piece name)
{
    struct match m;
    struct piece head, line, rest;
    const struct source_file *f;
    uint32_t number;
    char set[96];
    if (!py_defined(a, type, &head, &number, &f) ||
        !match(a->g, "^\\s*class \\w+\\((\\w+)\\)", head, &m) || name.len > 60)
        return false;
    struct piece base = m.group[0], base_head;
    uint32_t base_line, calls = 0, sets = 0, begins = 0;
    const struct source_file *base_file;
    if (!py_defined(a, base, &base_head, &base_line, &base_file) || base_file != f)
        return false;
    (void)snprintf(set, sizeof set, "self.%.*s", P(name));
    rest = text_of_source(f);
    for (uint32_t i = 1; i < LINES_SEEN && next_line(&rest, &line); i++) {
        struct piece t = piece_trim(line);
        bool in_class = i > number, in_base = i > base_line && (i < number || number < base_line);
        begins += in_class && starts_with(t, "def __init__(");
        calls += in_class && (piece_has(t, "super(") || piece_has(t, ".__init__("));
        sets += in_base && starts_with(t, set);
    }
    if (begins == 0 || calls > 0 || sets == 0)
        return false;
    suggest(a->d, 5, 0.9,
            "%.*s sets '%.*s' in its __init__, and the __init__ of %.*s does not call that: write "
            "super().__init__() as its first line.",
            P(base), P(name), P(type));
    return true;
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
    if (advise_item(a, type, name) || advise_base_class(a, type, name))
        return;
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
    } else if (py_is_stdlib(module) && !piece_among(module, stdlib_packages)) {
        suggest(a->d, 5, 0.5,
                "The module %.*s has no '%.*s': dir(%.*s) lists its names; a later Python may have "
                "more.",
                P(module), P(name), P(module));
    } else {
        suggest(a->d, 5, 0.4,
                "The module has no '%.*s': it may be a submodule (import %.*s.%.*s), or part of "
                "another version.",
                P(name), P(module), P(name));
    }
}

#include "diagnose/python_objects.rules.h" /* generated */
