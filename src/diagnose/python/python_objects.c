/* Rules for None, and for attributes that an object does not have. Runs in: keeper. */
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "diagnose/python/python.h"
#include "diagnose/python_objects.words.h" /* generated */

/* ---- None ---- */

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

/* Whether the last line of the function, at the indentation of its body, returns a value or raises. */
static bool ends_with_return(const struct advice *a, const struct source_file *f, uint32_t number)
{
    struct piece rest = text_of_source(f), line, last = NO_PIECE;
    size_t own = 0, body = 0;
    struct match m;
    for (uint32_t i = 1; i < LINES_SEEN && next_line(&rest, &line); i++) {
        if (i < number || piece_trim(line).len == 0)
            continue;
        if (i == number) {
            own = indent_of(line);
            continue;
        }
        if (indent_of(line) <= own)
            break;
        if (body == 0)
            body = indent_of(line);
        if (indent_of(line) <= body)
            last = line;
    }
    return last.at &&
           match(a->g, "^\\s*(?:return\\s+\\S|raise\\b|while True:|with\\b|try\\b|else\\b)", last,
                 &m);
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

/* Why the value is None: the last call in the code is one that returns None. */
static const char *reason_for_none(struct piece code)
{
    code = piece_trim_end(piece_cut(code, piece_find(code, "  #")));
    if (piece_last(code) == ':')
        code = piece_cut(code, code.len - 1);
    struct piece call = last_call(code);
    if (!call.at)
        return NULL;
    struct piece upto = piece_cut(code, piece_end(code, call));
    for (const struct word_pair *p = none_calls; p->word; p++)
        if (ends_with(upto, p->word))
            return p->text;
    return piece_has(code, "inplace=True") ? text_for(none_calls, PIECE("inplace=True")) : NULL;
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

/* How many lines of the file assign to the name. */
static unsigned assignments(const struct advice *a, struct piece name)
{
    struct piece rest = text_of_source(a->file), line;
    struct match m;
    unsigned n = 0;
    for (unsigned i = 0; i < LINES_SEEN && next_line(&rest, &line); i++)
        n += match(a->g, "^\\s*([A-Za-z_][\\w.]*)\\s*(?::[^=]+)?=[^=]", line, &m) &&
             piece_same(m.group[0], name);
    return n;
}

static void blame_name(const struct advice *a, struct piece name)
{
    struct piece value;
    uint32_t number;
    char shown[64];
    COPY(name, shown);
    struct match own;
    bool assigned = py_assigned(a, name, &value, &number);
    if (match(a->g, "^\\s*([A-Za-z_][\\w.]*)\\s*=\\s*([^=].*)$", a->line, &own) &&
        piece_same(own.group[0], name) && reason_for_none(own.group[1])) {
        /* the line itself made it None in the round before */
        suggest(a->d, 4, 0.93, "'%s' is None since this line ran before: %s.", shown,
                reason_for_none(own.group[1]));
        return;
    }
    bool here = assigned &&
                (py_scope_of(a, number).line == py_scope_of(a, a->d->location.line).line ||
                 !py_scope_of(a, number).line || piece_has(name, "."));
    const char *why = here ? reason_for_none(value) : NULL;
    if (here && assignments(a, name) == 1 && explain_own_call(a, value, shown, number))
        return;
    if (why)
        suggest(a->d, 4, 0.92, "'%s' is None since line %u: %s.", shown, number, why);
    else if (here && piece_is(piece_trim(value), "None") && assignments(a, name) == 1)
        suggest(a->d, 4, 0.85,
                "'%s' is None since line %u, and no line before this one gives it another value: "
                "assign one.",
                shown, number);
    else
        suggest(a->d, 4, 0.7,
                "'%s' is None here: test it first (`if %s is not None:`), or find the line or the "
                "call that gave it None.",
                shown, shown);
}

/* The code before the attribute or bracket that failed; the whole line when it is not known. Python
 * points at `.next` of `head.next.next`, and at the brackets of `x[0]`. */
static struct piece before_failure(const struct advice *a, struct piece attribute)
{
    struct match m;
    size_t column = a->d->location.column, end = a->d->location.end_column;
    char dotted[96];
    if (attribute.at) {
        (void)snprintf(dotted, sizeof dotted, ".%.*s", P(piece_cut(attribute, 80)));
        size_t first = piece_find(a->line, dotted);
        for (size_t at = first; at < a->line.len; at++) /* the occurrence that Python points at */
            if (starts_with(piece_skip(a->line, at), dotted) && at + strlen(dotted) + 1 == end)
                return piece_cut(a->line, at);
        return piece_cut(a->line, first);
    }
    if (column > 1 && end > column && column - 1 < a->line.len &&
        match(a->g, "[\\w)\\]]$", piece_before(a->line, column), &m))
        return piece_before(a->line, column);
    return a->line;
}

/* `add(1, 2)` where the decorator above `def add` returns nothing. */
static bool is_lost_by_decorator(const struct advice *a)
{
    struct piece rest = a->line, at, above;
    uint32_t number, decorator_line;
    const struct source_file *f;
    struct match m, d;
    while (rest.len > 0 && match(a->g, "([A-Za-z_]\\w*)\\(", rest, &m)) {
        rest = piece_after(rest, m.all);
        if (!py_defined(a, m.group[0], &at, &number, &f) || number < 2)
            continue;
        above = source_line(f, number - 1);
        if (!match(a->g, "^\\s*@(\\w+)", above, &d) ||
            !py_defined(a, d.group[0], &at, &decorator_line, &f))
            continue;
        suggest(a->d, 4, 0.93,
                "The decorator %.*s() (line %u) returns nothing, so '%.*s' is None: end it with "
                "`return` and the name of its inner function.",
                P(d.group[0]), decorator_line, P(m.group[0]));
        return true;
    }
    return false;
}

/* `f(x)`, where a path through the program's own f() ends without a value. */
static bool is_call_without_value(const struct advice *a, struct piece value)
{
    struct match m;
    struct piece head;
    uint32_t number;
    const struct source_file *f;
    return match(a->g, "\\b([A-Za-z_]\\w*)\\((?:[^()]|\\([^()]*\\))*\\)\\s*$", value, &m) &&
           py_defined(a, m.group[0], &head, &number, &f) && starts_with(head, "def ") &&
           !ends_with_return(a, f, number);
}

/* sorted(), max() and their like compare items, and one of them is None. */
static bool is_none_item(const struct advice *a)
{
    struct match m;
    bool order = match(a->g, "^'[<>]=?' not supported between", a->message, &m);
    if ((!order || !match(a->g, "\\b(sorted|max|min)\\(|\\.(sort)\\(", a->line, &m)) &&
        (!starts_with(a->message, "unsupported operand type(s) for +: ") ||
         !match(a->g, "\\b(sum)\\(", a->line, &m)))
        return false;
    suggest(
        a->d, 4, 0.9,
        "%.*s() met None among the values: leave such values out, [x for x in items if x is not "
        "None], or give them another value.",
        P(m.group[0].at ? m.group[0] : m.group[1]));
    return true;
}

/* An option of argparse that was not given, and has no default. */
static bool is_own_option(const struct advice *a)
{
    struct match m, option;
    struct piece rest = a->line;
    char asks[96];
    for (unsigned n = 0;
         n < NAMES_ASKED && rest.len > 0 && match(a->g, "\\b\\w+\\.(\\w+)", rest, &m);
         n++, rest = piece_after(rest, m.all)) {
        (void)snprintf(asks, sizeof asks, "--%.*s", P(piece_cut(m.group[0], 60)));
        for (char *c = asks; *c; c++)
            *c = *c == '_' ? '-' : *c;
        struct piece left = text_of_source(a->file), line;
        for (unsigned i = 0; i < LINES_SEEN && next_line(&left, &line); i++) {
            if (!match(a->g, "add_argument\\(.*[\"'](--[\\w-]+)[\"']", line, &option) ||
                !piece_is(option.group[0], asks) || piece_has(line, "default=") ||
                piece_has(line, "required=") || piece_has(line, "action="))
                continue;
            suggest(a->d, 4, 0.9,
                    "The option %s was not given, so it is None: give it a value with default=, or "
                    "required=True.",
                    asks);
            return true;
        }
    }
    return false;
}

/* r.stdout after subprocess.run() without capture_output. */
static bool is_not_captured(const struct advice *a)
{
    struct match m;
    struct piece value;
    uint32_t number;
    if (!match(a->g, "([A-Za-z_]\\w*)\\.(stdout|stderr)\\b", a->line, &m) ||
        !py_assigned(a, m.group[0], &value, &number) || !piece_has(value, "subprocess.run(") ||
        piece_has(value, "capture_output") || piece_has(value, "PIPE"))
        return false;
    suggest(a->d, 4, 0.94,
            "subprocess.run() keeps no output by default, so %.*s.%.*s is None: add "
            "capture_output=True, text=True in line %u.",
            P(m.group[0]), P(m.group[1]), number);
    return true;
}

/* Finds a name or a call in the line that is None. */
static void blame_line(const struct advice *a)
{
    struct match m;
    struct piece rest = a->line; /* the first name in the line with the value None */
    for (unsigned n = 0; n < 2 * NAMES_ASKED && match(a->g, "([A-Za-z_]\\w*)", rest, &m); n++) {
        struct piece value;
        uint32_t number;
        if (py_assigned(a, m.group[0], &value, &number) &&
            (reason_for_none(value) || piece_is(piece_trim(value), "None") ||
             is_call_without_value(a, value))) {
            blame_name(a, m.group[0]);
            return;
        }
        rest = piece_after(rest, m.all);
    }
    /* A line that prints does not use the result of print(). */
    const struct word_pair *call = piece_has(a->line, "print(") ? NULL
                                                                : pair_in(none_calls, a->line);
    const char *why = call ? call->text : NULL;
    if (!explain_own_call(a, a->line, NULL, 0))
        suggest(a->d, 4, why ? 0.8 : 0.4, "%s.",
                why ? why
                    : "A value in this line is None: a call found nothing, or a function has no "
                      "`return`");
}

/* Finds the part of the line that is None: the code before the attribute or bracket. */
static void on_none(const struct advice *a)
{
    struct match m;
    struct piece attribute = a->m.group[0];
    if (starts_with(a->message, "'NoneType' object is not callable")) {
        if (!is_lost_by_decorator(a))
            suggest(
                a->d, 4, 0.7,
                "A name that is called in this line is None, not a function: find the line that "
                "gave it None; a function that returns another one needs a `return`.");
        return;
    }
    if (is_none_item(a) || is_own_option(a) || is_not_captured(a))
        return;
    if (!a->line.at) {
        suggest(a->d, 4, 0.4,
                "A value in this line is None: a call found nothing, or a function has no "
                "`return`. Test the value first.");
        return;
    }
    struct piece before = before_failure(a, attribute);
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
    if (before.len < a->line.len && !starts_with(a->message, "argument") &&
        match(a->g, "([A-Za-z_][\\w.]*(?:\\[[^\\[\\]]*\\])+)\\s*$", before, &m)) {
        suggest(a->d, 4, 0.88,
                "%.*s is None: the key or item is there, and has no value. Test it first (`is not "
                "None`), or write (%.*s or {}) if it should be a dict.",
                P(m.group[0]), P(m.group[0]));
        return;
    }
    if (before.len < a->line.len && match(a->g, "([A-Za-z_][\\w.]*)$", before, &m)) {
        blame_name(a, m.group[0]);
        return;
    }
    blame_line(a);
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

/* Whether a text of the program in quotes is the name. */
static bool is_literal(const struct advice *a, struct piece name)
{
    char quoted[2][80];
    (void)snprintf(quoted[0], sizeof quoted[0], "\"%.*s\"", P(piece_cut(name, 70)));
    (void)snprintf(quoted[1], sizeof quoted[1], "'%.*s'", P(piece_cut(name, 70)));
    return piece_has(text_of_source(a->file), quoted[0]) ||
           piece_has(text_of_source(a->file), quoted[1]);
}

/* `user.name` of a dict, where the program has the name as a key. */
static bool advise_item(const struct advice *a, struct piece type, struct piece name)
{
    char of_item[80], key[80];
    if (!piece_is(type, "dict") || name.len > 60)
        return false;
    (void)snprintf(of_item, sizeof of_item, "[\"%.*s\"]", P(name));
    (void)snprintf(key, sizeof key, ".%.*s", P(name));
    size_t at = 0;
    while (at < a->line.len && !(starts_with(piece_skip(a->line, at), key) &&
                                 !is_word_byte(piece_byte(a->line, at + 1 + name.len))))
        at++;
    if (at >= a->line.len || piece_byte(a->line, at + 1 + name.len) == '(')
        return false;
    suggest(a->d, 5, 0.9, "A dict has items, no attributes of its own: write %s for `.%.*s`.",
            of_item, P(name));
    if (is_literal(a, name))
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

/* The attribute is set by another method, or in an __init__ with a slip in its name. */
static bool advise_own_class(const struct advice *a, struct piece class, struct piece name)
{
    struct piece head, rest, line;
    uint32_t number;
    const struct source_file *f;
    struct match m;
    if (!py_defined(a, class, &head, &number, &f) || f != a->file || !starts_with(head, "class "))
        return false;
    rest = text_of_source(f);
    unsigned looks = 0; /* each reads the file from its first line */
    for (uint32_t i = 1; i < LINES_SEEN && looks < 16 && next_line(&rest, &line); i++) {
        if (i <= number ||
            !match(
                a->g,
                "^\\s*(?:def (_*(?:init|inti|initi|ini)_*)\\(|self\\.(\\w+)\\s*(?::[^=]+)?=[^=])",
                line, &m) ||
            (m.group[1].at ? !piece_same(m.group[1], name) : piece_is(m.group[0], "__init__")))
            continue;
        looks++;
        struct py_scope scope = py_scope_of(a, i);
        if (!m.group[1].at && py_in_class(scope) && piece_same(scope.name, class)) {
            suggest(a->d, 5, 0.93,
                    "Line %u defines `%.*s`, which Python does not call when an object is made: "
                    "its name is `__init__`, with two underscores on each side.",
                    i, P(m.group[0]));
            return true;
        }
        if (!m.group[1].at || !scope.line || py_in_class(scope))
            continue;
        if (starts_with(a->message, "type object"))
            suggest(
                a->d, 5, 0.9,
                "'%.*s' belongs to an object, and %.*s is the class: make an object first, `x = "
                "%.*s(...)`, and read x.%.*s.",
                P(name), P(class), P(class), P(name));
        else
            suggest(a->d, 5, 0.9,
                    "%.*s() (line %u) sets '%.*s', and it did not run before: set self.%.*s in "
                    "__init__ (None, for example), or call %.*s() first.",
                    P(scope.name), i, P(name), P(name), P(scope.name));
        return true;
    }
    return false;
}

/* A name near to it that the type has: of the tables, of the class in the program, or Python's own
 * hint, which is taken only if it is near. */
static bool near_attribute(const struct advice *a, struct piece type, struct similar *n)
{
    struct piece hint;
    bool known = false;
    for (size_t i = 0; i < ARRAY_LEN(attributes); i++)
        if (piece_is(type, attributes[i].type)) {
            similar_try_list(n, attributes[i].names);
            known = true;
        }
    if (!known && py_hint(a, &hint))
        similar_try(n, hint);
    if (!known && !n->best[0])
        py_try_members(a, type, n);
    return n->best[0] != '\0';
}

static bool advise_habit(const struct advice *a, struct piece type, struct piece name)
{
    for (size_t i = 0; i < ARRAY_LEN(habits); i++) {
        if (!piece_is(type, habits[i].type) || !piece_is(name, habits[i].attribute))
            continue;
        suggest(a->d, rule_of_habit(habits[i].type), 0.94, "%s.", habits[i].advice);
        if (habits[i].swap)
            (void)suggest_swap(a->in, a->d, name, habits[i].swap);
        else if (strcmp(habits[i].type, "DataFrame") == 0)
            offer_concat(a);
        return true;
    }
    return false;
}

/* `self.__total` is private to its class. */
static bool is_private(const struct advice *a, struct piece type, struct piece name)
{
    char set[2][96];
    if (!starts_with(name, "__") || ends_with(name, "__") || name.len > 60)
        return false;
    (void)snprintf(set[0], sizeof set[0], "self.%.*s", P(name));
    (void)snprintf(set[1], sizeof set[1], "def %.*s(", P(name));
    if (!piece_has(text_of_source(a->file), set[0]) && !piece_has(text_of_source(a->file), set[1]))
        return false;
    suggest(a->d, 5, 0.9,
            "A name with two underscores at its begin is private: outside of the class it is "
            "`_%.*s%.*s`. Give the class a method or a property for it, or begin the name with one "
            "underscore.",
            P(type), P(name));
    return true;
}

static void on_attribute(const struct advice *a)
{
    struct piece type = a->m.group[0], name = a->m.group[1];
    struct piece line;
    uint32_t number;
    const struct source_file *f;
    struct similar n = { .name = name };
    if (piece_is(type, "NoneType"))
        return;
    if (piece_is(type, "coroutine")) {
        py_not_awaited(a);
        return;
    }
    if (advise_habit(a, type, name) || is_private(a, type, name) ||
        advise_base_class(a, type, name))
        return;
    bool near = near_attribute(a, type, &n);
    if (!(near && !is_literal(a, name)) && advise_item(a, type, name))
        return;
    if (near) {
        suggest(a->d, 5, 0.9, "Did you mean '.%s'?", n.best);
        (void)suggest_swap(a->in, a->d, name, n.best);
    } else if (advise_own_class(a, type, name)) {
        return;
    } else if (py_defined(a, type, &line, &number, &f)) {
        suggest(a->d, 5, 0.7,
                "The class %.*s (line %u of %s) has no '%.*s': set self.%.*s in __init__, or "
                "define it in the class.",
                P(type), number, f->name, P(name), P(name));
    } else if (piece_is(type, "DataFrame")) {
        suggest(
            a->d, 5, 0.75,
            "The table has no column and no method '%.*s': print(df.columns) shows the columns, "
            "and a column with another name than a word is df[\"name\"].",
            P(name));
    } else {
        suggest(
            a->d, 5, 0.4,
            "A value of the type %.*s has no '%.*s': dir(x) lists its attributes; check the line "
            "that gave it its value.",
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
    } else if (text_for(submodules, module) &&
               has_word(piece_of(text_for(submodules, module)), name)) {
        suggest(a->d, 5, 0.93,
                "'%.*s' is a submodule, which `import %.*s` alone does not load: write `import "
                "%.*s.%.*s`.",
                P(name), P(module), P(module), P(name));
        suggest_replacement(a->d, "import %.*s.%.*s", P(module), P(name));
    } else if (py_is_stdlib(module)) {
        suggest(a->d, 5, 0.5, "The module %.*s has no '%.*s': dir(%.*s) lists its names.",
                P(module), P(name), P(module));
    } else {
        suggest(a->d, 5, 0.4,
                "The module %.*s has no '%.*s': dir(%.*s) lists its names; it may be a name of "
                "another version.",
                P(module), P(name), P(module));
    }
}

#include "diagnose/python_objects.rules.h" /* generated */
