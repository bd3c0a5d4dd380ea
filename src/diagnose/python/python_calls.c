/* Calls that do not fit: arguments, things that are no function, no list, no iterator. */
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "diagnose/python/python.h"

enum { LINES_FIELDS = 64 };

/* Parameters of the definition as it is written: "(a, b=1)". */
static struct piece parameters(struct py *p, struct piece definition)
{
    struct match m;
    return match(p->g, "(\\(.*\\))", definition, &m) ? m.group[0] : NO_PIECE;
}

/* The definition of "f" or "C.method"; for a class it is its __init__. */
static bool definition_of(struct py *p, struct piece name, struct piece *ret_line,
                          uint32_t *ret_number)
{
    const struct source_file *f;
    const char *dot = memrchr(name.at, '.', name.len);
    struct piece last = name, class_line;
    if (dot)
        last = (struct piece){ dot + 1, (size_t)(name.at + name.len - dot - 1) };
    if (!dot)
        return py_defined(p, last, ret_line, ret_number, &f);
    /* The first one after the class. */
    struct piece owner = { name.at, (size_t)(dot - name.at) };
    const char *inner = memrchr(owner.at, '.', owner.len);
    if (inner)
        owner = (struct piece){ inner + 1, (size_t)(dot - inner - 1) };
    uint32_t from;
    if (!py_defined(p, owner, &class_line, &from, &f))
        return py_defined(p, last, ret_line, ret_number, &f);
    struct piece rest = { f->text, f->len }, line;
    struct match m;
    for (uint32_t i = 1; i < LINES_SEEN && next_line(&rest, &line); i++)
        if (i > from && match(p->g, "^\\s*(?:async )?def (\\w+)", line, &m) &&
            piece_same(m.group[0], last)) {
            *ret_line = piece_trim(line);
            *ret_number = i;
            return true;
        }
    return false;
}

/* Arguments of well-known functions, by the name that people give them. */
static const struct {
    const char *function, *given, *meant;
} slips[] = {
    { "JSONEncoder.__init__", "sort", "sort_keys" },
    { "JSONEncoder.__init__", "pretty", "indent" },
    { "JSONEncoder.__init__", "ident", "indent" },
    { "print", "separator", "sep" },
    { "print", "newline", "end" },
    { "sort", "reversed", "reverse" },
    { "sort", "descending", "reverse" },
    { "sort", "cmp", "key" },
    { "sort", "by", "key" },
    { "open", "encode", "encoding" },
    { "open", "charset", "encoding" },
    { "read_csv", "separator", "sep" },
    { "read_csv", "seperator", "sep" },
    { "read_csv", "columns", "usecols" },
    { "to_csv", "seperator", "sep" },
    { "run", "output", "capture_output" },
    { "Thread.__init__", "func", "target" },
    { "Thread.__init__", "function", "target" },
    { "Process.__init__", "func", "target" },
    { "ArgumentParser.__init__", "desc", "description" },
};

static bool say_slip(struct py *p, struct piece name, struct piece given)
{
    for (size_t i = 0; i < ARRAY_LEN(slips); i++) {
        size_t n = strlen(slips[i].function);
        if (!piece_is(given, slips[i].given) || name.len < n ||
            memcmp(name.at + name.len - n, slips[i].function, n) != 0)
            continue;
        suggest(p->d, 10, 0.92, "That argument is called '%s'.", slips[i].meant);
        (void)suggest_swap(p->in, p->d, given, slips[i].meant);
        return true;
    }
    return false;
}

static bool of_library(struct py *p, struct piece name, struct piece what)
{
    struct match m;
    return match(p->g, "^got an unexpected keyword argument '(\\w+)'", what, &m) &&
           say_slip(p, name, m.group[0]);
}

/* A dataclass or named tuple has an __init__ that nobody wrote: its fields are its parameters. */
static bool of_dataclass(struct py *p, struct piece name, struct piece what)
{
    struct match m, field;
    struct piece line;
    uint32_t number;
    const struct source_file *f;
    if (!match(p->g, "^(\\w+)\\.__(?:init|new)__$", name, &m) ||
        !py_defined(p, m.group[0], &line, &number, &f))
        return false;
    struct piece class = m.group[0];
    if (match(p->g, "^missing .*: (.+)$", what, &m)) {
        suggest(p->d, 10, 0.9,
                "%.*s (line %u) has fields that must be given: give %.*s in the call, or a default "
                "in the class.",
                P(class), number, P(m.group[0]));
        return true;
    }
    struct nearest n = { .name = NO_PIECE };
    if (match(p->g, "^got an unexpected keyword argument '(\\w+)'", what, &m))
        n.name = m.group[0];
    struct piece rest = { f->text, f->len };
    for (uint32_t i = 1; n.name.at && i < number + LINES_FIELDS && next_line(&rest, &line); i++)
        if (i > number && match(p->g, "^\\s+(\\w+)\\s*:", line, &field))
            nearest_try(&n, field.group[0]);
    suggest(p->d, 10, 0.85, "The fields of %.*s (line %u) are its arguments%s%s%s", P(class),
            number, n.best[0] ? ": did you mean '" : ": there is none for this one.", n.best,
            n.best[0] ? "'?" : "");
    if (n.best[0])
        (void)suggest_swap(p->in, p->d, n.name, n.best);
    return true;
}

static void on_invalid_keyword(struct py *p)
{
    (void)say_slip(p, p->m.group[1], p->m.group[0]);
}

/* A decorator gives another function in place of the one below it. */
static bool is_wrapped(struct py *p, uint32_t number, struct piece list, struct piece what)
{
    struct match m;
    struct piece above = piece_trim(source_line(p->file, number - 1));
    if (!match(p->g, "^takes 0 positional arguments", what, &m) || piece_is(list, "()") ||
        number < 2 || !starts_with(above, "@"))
        return false;
    suggest(p->d, 10, 0.9,
            "%.*s (line %u) puts another function in its place, and that one takes no arguments: "
            "let it pass them on, `def wrapper(*args, **kwargs): return func(*args, **kwargs)`.",
            P(above), number - 1);
    return true;
}

/* What stands behind `*,` in a definition is given by its name. */
static bool wants_names(struct py *p, uint32_t number, struct piece definition, struct piece what)
{
    struct match m, star;
    if (!match(p->g, "^takes .*positional", what, &m) ||
        !match(p->g, "[(,] *\\*, *(\\w+)", definition, &star))
        return false;
    suggest(p->d, 10, 0.92,
            "Line %u defines it as `%.*s`: what stands behind the * is given by its name, %.*s=...",
            number, P(definition), P(star.group[0]));
    return true;
}

static void on_arguments(struct py *p)
{
    struct piece name = p->m.group[0], what = p->m.group[1], definition;
    uint32_t number;
    struct match m;
    if (!definition_of(p, name, &definition, &number)) {
        if (of_dataclass(p, name, what) || of_library(p, name, what))
            return;
        suggest(p->d, 10, 0.5, "%.*s() %.*s: help(%.*s) shows what it takes.", P(name), P(what),
                P(name));
        return;
    }
    struct piece list = parameters(p, definition);
    if (is_wrapped(p, number, list, what) || wants_names(p, number, definition, what))
        return;
    if (match(p->g, "^takes (\\d+) positional arguments? but (\\d+) w", what, &m) &&
        piece_number(m.group[1]) == piece_number(m.group[0]) + 1 &&
        memchr(name.at, '.', name.len) && list.at && !starts_with(list, "(self") &&
        !starts_with(list, "(cls")) {
        bool empty = piece_is(list, "()");
        suggest(p->d, 10, 0.93,
                "A method gets its object first: line %u should be `def %.*s(self%s%.*s`.", number,
                (int)(list.at - definition.at - 4 > 0 ? list.at - definition.at - 4 : 0),
                definition.at + 4, empty ? "" : ", ", (int)(list.len - 1), list.at + 1);
        return;
    }
    if (match(p->g, "^got an unexpected keyword argument '(\\w+)'", what, &m)) {
        struct nearest n = { .name = m.group[0] };
        struct piece rest = list;
        struct match word;
        while (rest.len > 0 && match(p->g, "([A-Za-z_]\\w*)", rest, &word)) {
            nearest_try(&n, word.group[0]);
            size_t used = (size_t)(word.all.at + word.all.len - rest.at);
            rest.at += used;
            rest.len -= used;
        }
        suggest(p->d, 10, 0.92, "Line %u defines it as `%.*s`: %s%s%s", number, P(definition),
                n.best[0] ? "did you mean '" : "it takes no such argument.", n.best,
                n.best[0] ? "'?" : "");
        if (n.best[0])
            (void)suggest_swap(p->in, p->d, m.group[0], n.best);
        return;
    }
    bool missing = match(
        p->g, "missing \\d+ required (?:positional|keyword-only) arguments?: (.+)$", what, &m);
    suggest(p->d, 10, 0.92, "Line %u defines it as `%.*s`: %s%.*s.", number, P(definition),
            missing ? "give " : "call it with as many arguments as that",
            missing ? (int)m.group[0].len : 0, missing ? m.group[0].at : "");
}

/* The name that is called or indexed in the line, and where it was given another meaning. */
static bool shadowed(struct py *p, unsigned rule)
{
    struct piece rest = p->line, value;
    struct match m;
    uint32_t number;
    while (rest.len > 0 && match(p->g, "([A-Za-z_]\\w*)\\(", rest, &m)) {
        struct piece name = m.group[0];
        if (py_assigned(p, name, &value, &number)) {
            if (piece_among(name, py_builtins))
                suggest(p->d, rule, 0.95,
                        "Line %u gives the name '%.*s' to something else, and so hides the "
                        "built-in %.*s(): use another name there.",
                        number, P(name), P(name));
            else
                suggest(p->d, rule, 0.85,
                        "'%.*s' is a value since line %u, not a function: leave out the brackets "
                        "after it, or use another name there.",
                        P(name), number);
            return true;
        }
        size_t used = (size_t)(m.all.at + m.all.len - rest.at);
        rest.at += used;
        rest.len -= used;
    }
    return false;
}

/* `x.area()` where area is a property: it has been called already. */
static bool is_property(struct py *p)
{
    struct match m;
    struct piece left = p->line, at;
    uint32_t number;
    const struct source_file *f;
    while (left.len > 0 && match(p->g, "\\.(\\w+)\\(\\)", left, &m)) {
        if (py_defined(p, m.group[0], &at, &number, &f) && number > 1 &&
            piece_has(source_line(f, number - 1), "property")) {
            char call[128], plain[128];
            (void)snprintf(call, sizeof call, ".%.*s()", P(m.group[0]));
            (void)snprintf(plain, sizeof plain, ".%.*s", P(m.group[0]));
            suggest(p->d, 12, 0.94, "'%.*s' is a property (line %u): it is read without brackets.",
                    P(m.group[0]), number);
            (void)suggest_swap(p->in, p->d, piece_of(call), plain);
            return true;
        }
        size_t used = (size_t)(m.all.at + m.all.len - left.at);
        left.at += used;
        left.len -= used;
    }
    return false;
}

static void on_not_callable(struct py *p)
{
    struct piece type = p->m.group[0];
    struct match m;
    if (piece_is(type, "NoneType"))
        return;
    if (piece_is(type, "module") && match(p->g, "([A-Za-z_]\\w*)\\(", p->line, &m)) {
        suggest(p->d, 12, 0.9, "'%.*s' is the module: call what is in it, such as %.*s.%.*s(...).",
                P(m.group[0]), P(m.group[0]), P(m.group[0]));
        return;
    }
    if ((piece_is(type, "dict") || piece_is(type, "list") || piece_is(type, "tuple") ||
         piece_is(type, "str")) &&
        match(p->g, "([A-Za-z_]\\w*)\\(([^()]*)\\)", p->line, &m) &&
        !piece_among(m.group[0], py_builtins)) {
        char old[200], now[200];
        (void)snprintf(old, sizeof old, "%.*s", (int)(m.all.len < 190 ? m.all.len : 190), m.all.at);
        (void)snprintf(now, sizeof now, "%.*s[%.*s]", P(m.group[0]), P(m.group[1]));
        suggest(p->d, 12, 0.88,
                "'%.*s' is a %.*s, not a function: take an item with square brackets.",
                P(m.group[0]), P(type));
        (void)suggest_swap(p->in, p->d, piece_of(old), now);
        return;
    }
    if (match(p->g, "\\b(\\d+(?:\\.\\d+)?)\\s*\\(", p->line, &m)) {
        suggest(p->d, 12, 0.92,
                "A number cannot be called: write the multiplication out, %.*s * (...).",
                P(m.group[0]));
        return;
    }
    if (is_property(p) || shadowed(p, 12))
        return;
    if (piece_is(type, "tuple") || piece_is(type, "str") || piece_is(type, "list"))
        suggest(p->d, 12, 0.6,
                "A comma may be missing before the bracket: `(a, b) (c, d)` calls the first with "
                "the second.");
    else
        suggest(p->d, 12, 0.6,
                "It is a%s %.*s, not a function: leave out the brackets, or look where its name "
                "got that value.",
                type.len && strchr("aeiou", type.at[0]) ? "n" : "", P(type));
}

static void on_not_subscriptable(struct py *p)
{
    struct piece type = p->m.group[0];
    struct match m;
    if (piece_is(type, "NoneType"))
        return;
    if (piece_is(type, "coroutine")) {
        py_not_awaited(p);
        return;
    }
    bool function = piece_is(type, "function") || piece_is(type, "method") ||
                    piece_is(type, "builtin_function_or_method");
    if (function && match(p->g, "([\\w.]+)\\[([^\\]]*)\\]", p->line, &m)) {
        char old[200], called[200];
        bool direct = !memchr(m.group[0].at, '.', m.group[0].len);
        (void)snprintf(old, sizeof old, "%.*s", (int)(m.all.len < 190 ? m.all.len : 190), m.all.at);
        (void)snprintf(called, sizeof called, direct ? "%.*s(%.*s)" : "%.*s()[%.*s]", P(m.group[0]),
                       P(m.group[1]));
        suggest(p->d, 12, 0.92, "'%.*s' is a function: call it with round brackets, %s.",
                P(m.group[0]), called);
        (void)suggest_swap(p->in, p->d, piece_of(old), called);
        return;
    }
    if (piece_is(type, "set")) {
        suggest(p->d, 12, 0.85,
                "A set has no order, so no first item: list(x)[0] or next(iter(x)) take one.");
        return;
    }
    if (match(p->g, "^dict_(\\w+)$|^(map|filter|zip|generator)$", type, &m)) {
        suggest(p->d, 12, 0.9,
                "It can only be gone through: list(...) makes a list of it that has positions.");
        return;
    }
    if (piece_is(type, "type") && shadowed(p, 12))
        return;
    suggest(p->d, 12, 0.7,
            "A %.*s has no items to take with [...]: look where it got its value; a list or dict "
            "was expected.",
            P(type));
}

static void on_no_item_assignment(struct py *p)
{
    if (piece_is(p->m.group[0], "str"))
        suggest(p->d, 0, 0.9,
                "Strings do not change: build a new one (x[:i] + new + x[i+1:]), or work on "
                "list(x) and ''.join() it.");
    else if (piece_is(p->m.group[0], "tuple"))
        suggest(p->d, 0, 0.9, "Tuples do not change: use a list ([...]), or make a new tuple.");
    else
        suggest(p->d, 0, 0.5, "A %.*s cannot be changed by position.", P(p->m.group[0]));
}

const struct py_rule py_call_rules[] = {
    { "TypeError", "^([\\w.<>]+)\\(\\) ((?:missing|takes(?! no arguments)|got) .*)$",
      .advise = on_arguments },
    { "TypeError", "^'(\\w+)' is an invalid keyword argument for (\\w+)\\(\\)",
      .advise = on_invalid_keyword },
    { "TypeError", "^(\\w+)\\(\\) takes no arguments", .rule = 10, .confidence = 0.9,
      .text = "The class {1} has no `def __init__(self, ...)` that takes them: define one (with "
              "two underscores on each side)." },
    { "TypeError", "^'([\\w.]+)' object is not callable", .advise = on_not_callable },
    { "TypeError", "^'([\\w.]+)' object is not subscriptable", .advise = on_not_subscriptable },
    { "TypeError", "^'coroutine' object is not", .advise = py_not_awaited },
    { "TypeError", "^'(\\w+)' object does not support item assignment",
      .advise = on_no_item_assignment },
    { "TypeError",
      "^Can't instantiate abstract class (\\w+) with(?:out an implementation for)? abstract "
      "methods? (.+)$",
      .confidence = 0.85, .text = "The subclass must define {2}." },
    { 0 },
};
