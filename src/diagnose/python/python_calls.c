/* Rules for calls: wrong arguments, and values that cannot be called, indexed or iterated. Runs in:
 * keeper. */
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "diagnose/python/python.h"
#include "diagnose/python_calls.words.h" /* generated */

enum { LINES_FIELDS = 64 };

/* Parameters of the definition as it is written: "(a, b=1)". */
static struct piece parameters(const struct advice *a, struct piece definition)
{
    struct match m;
    return match(a->g, "(\\(.*\\))", definition, &m) ? m.group[0] : NO_PIECE;
}

/* The definition of "f" or "C.method"; for a class it is its __init__. */
static bool definition_of(const struct advice *a, struct piece name, struct piece *ret_line,
                          uint32_t *ret_number)
{
    const struct source_file *f;
    struct piece last = piece_last_part(name), class_line;
    if (last.len == name.len)
        return py_defined(a, last, ret_line, ret_number, &f);
    /* The first one after the class. */
    struct piece owner = piece_last_part(piece_cut(name, name.len - last.len - 1));
    uint32_t from;
    if (!py_defined(a, owner, &class_line, &from, &f))
        return py_defined(a, last, ret_line, ret_number, &f);
    struct piece rest = text_of_source(f), line;
    struct match m;
    for (uint32_t i = 1; i < LINES_SEEN && next_line(&rest, &line); i++)
        if (i > from && match(a->g, "^\\s*(?:async )?def (\\w+)", line, &m) &&
            piece_same(m.group[0], last)) {
            *ret_line = piece_trim(line);
            *ret_number = i;
            return true;
        }
    return false;
}

static bool say_slip(const struct advice *a, struct piece name, struct piece given)
{
    for (size_t i = 0; i < ARRAY_LEN(slips); i++) {
        if (!piece_is(given, slips[i].given) || !ends_with(name, slips[i].function))
            continue;
        suggest(a->d, 10, 0.92, "That argument is called '%s'.", slips[i].meant);
        (void)suggest_swap(a->in, a->d, given, slips[i].meant);
        return true;
    }
    return false;
}

static bool explain_library(const struct advice *a, struct piece name, struct piece what)
{
    struct match m;
    return match(a->g, "^got an unexpected keyword argument '(\\w+)'", what, &m) &&
           say_slip(a, name, m.group[0]);
}

/* A dataclass or named tuple has a generated __init__: its fields are the parameters. */
static bool explain_dataclass(const struct advice *a, struct piece name, struct piece what)
{
    struct match m, field;
    struct piece line;
    uint32_t number;
    const struct source_file *f;
    if (!match(a->g, "^(\\w+)\\.__(?:init|new)__$", name, &m) ||
        !py_defined(a, m.group[0], &line, &number, &f))
        return false;
    struct piece class = m.group[0];
    if (match(a->g, "^missing .*: (.+)$", what, &m)) {
        suggest(a->d, 10, 0.9,
                "%.*s (line %u) has fields without a default: give %.*s in the call, or a default "
                "in the class.",
                P(class), number, P(m.group[0]));
        return true;
    }
    struct similar n = { .name = NO_PIECE };
    if (match(a->g, "^got an unexpected keyword argument '(\\w+)'", what, &m))
        n.name = m.group[0];
    struct piece rest = text_of_source(f);
    for (uint32_t i = 1; n.name.at && i < number + LINES_FIELDS && next_line(&rest, &line); i++)
        if (i > number && match(a->g, "^\\s+(\\w+)\\s*:", line, &field))
            similar_try(&n, field.group[0]);
    suggest(a->d, 10, 0.85, "The fields of %.*s (line %u) are its arguments%s%s%s", P(class),
            number, n.best[0] ? ": did you mean '" : ": none of them has this name.", n.best,
            n.best[0] ? "'?" : "");
    if (n.best[0])
        (void)suggest_swap(a->in, a->d, n.name, n.best);
    return true;
}

static void on_invalid_keyword(const struct advice *a)
{
    if (piece_is(a->m.group[0], "cmp")) {
        suggest(a->d, 10, 0.95,
                "Python 3 has no `cmp=`: write key=functools.cmp_to_key(function), or a key "
                "function of one value.");
        return;
    }
    if (piece_is(a->m.group[1], "print")) {
        suggest(a->d, 10, 0.93,
                "print() takes sep= (the text between values), end=, file= and flush=, and no "
                "'%.*s'.",
                P(a->m.group[0]));
        return;
    }
    (void)say_slip(a, a->m.group[1], a->m.group[0]);
}

/* A decorator replaces the function below it by another. */
static bool is_wrapped(const struct advice *a, uint32_t number, struct piece list,
                       struct piece what)
{
    struct match m;
    struct piece above = piece_trim(source_line(a->file, number - 1));
    if (!match(a->g, "^takes 0 positional arguments", what, &m) || piece_is(list, "()") ||
        number < 2 || !starts_with(above, "@"))
        return false;
    suggest(a->d, 10, 0.9,
            "%.*s (line %u) replaces it by another function, which takes no arguments: let that "
            "function pass them on, `def wrapper(*args, **kwargs): return func(*args, **kwargs)`.",
            P(above), number - 1);
    return true;
}

/* Parameters behind `*,` in a definition are given by name. */
static bool wants_names(const struct advice *a, uint32_t number, struct piece definition,
                        struct piece what)
{
    struct match m, star;
    if (!match(a->g, "^takes .*positional", what, &m) ||
        !match(a->g, "[(,] *\\*, *(\\w+)", definition, &star))
        return false;
    suggest(a->d, 10, 0.92,
            "Line %u defines it as `%.*s`: parameters behind the * are given by name, %.*s=...",
            number, P(definition), P(star.group[0]));
    return true;
}

/* A method is called on its class, or a static method has `self`: the object is the argument that is
 * missing. */
static bool lacks_object(const struct advice *a, struct piece name, uint32_t number,
                         struct piece list, struct piece what)
{
    struct match m;
    struct piece above = piece_trim(source_line(a->file, number - 1));
    size_t dot = piece_find(name, ".");
    if (!starts_with(what, "missing 1 required positional argument") ||
        !starts_with(list, "(self") || dot == name.len)
        return false;
    if (starts_with(above, "@staticmethod")) {
        suggest(a->d, 10, 0.93,
                "A static method gets no object: remove `self` from line %u, or remove the "
                "@staticmethod above it.",
                number);
        return true;
    }
    struct piece class = piece_cut(name, dot), method = piece_skip(name, dot + 1);
    if (!match(a->g, "\\b(\\w+)\\.(\\w+)\\(", a->line, &m) || !piece_same(m.group[0], class) ||
        !piece_same(m.group[1], method))
        return false;
    suggest(a->d, 10, 0.93,
            "`%.*s` is the class, and %.*s() needs an object of it: make one first, `x = "
            "%.*s(...)`, and call `x.%.*s(...)`.",
            P(class), P(method), P(class), P(method));
    return true;
}

/* The call passes one dict or list where the function takes several arguments. */
static bool lacks_stars(const struct advice *a, struct piece what)
{
    struct match m;
    struct piece value;
    uint32_t number;
    if (!starts_with(what, "missing ") ||
        !match(a->g, "\\w\\(\\s*([A-Za-z_]\\w*)\\s*\\)", a->line, &m) ||
        !py_assigned(a, m.group[0], &value, &number))
        return false;
    value = piece_trim(value);
    bool dict = starts_with(value, "{") || starts_with(value, "dict(");
    if (!dict && !starts_with(value, "[") && !starts_with(value, "("))
        return false;
    suggest(a->d, 10, 0.9,
            "'%.*s' (line %u) is passed as one argument: %s%.*s passes its %s as the arguments.",
            P(m.group[0]), number, dict ? "**" : "*", P(m.group[0]),
            dict ? "values, by name," : "items");
    return true;
}

static void on_arguments(const struct advice *a)
{
    struct piece name = a->m.group[0], what = a->m.group[1], definition;
    uint32_t number;
    struct match m;
    if (!definition_of(a, name, &definition, &number)) {
        if (explain_dataclass(a, name, what) || explain_library(a, name, what))
            return;
        suggest(a->d, 10, 0.5, "%.*s() %.*s: help(%.*s) shows its parameters.", P(name), P(what),
                P(name));
        return;
    }
    struct piece list = parameters(a, definition);
    if (is_wrapped(a, number, list, what) || wants_names(a, number, definition, what) ||
        lacks_object(a, name, number, list, what) || lacks_stars(a, what))
        return;
    if (match(a->g, "^takes (\\d+) positional arguments? but (\\d+) w", what, &m) &&
        piece_number(m.group[1]) == piece_number(m.group[0]) + 1 && piece_has(name, ".") &&
        list.at && !starts_with(list, "(self") && !starts_with(list, "(cls")) {
        bool empty = piece_is(list, "()");
        suggest(a->d, 10, 0.93,
                "A method gets its object first: line %u should be `def %.*s(self%s%.*s`.", number,
                P(piece_skip(piece_cut(definition, piece_offset(definition, list)), 4)),
                empty ? "" : ", ", P(piece_skip(list, 1)));
        return;
    }
    if (match(a->g, "^got an unexpected keyword argument '(\\w+)'", what, &m)) {
        struct similar n = { .name = m.group[0] };
        struct piece rest = list;
        struct match word;
        while (rest.len > 0 && match(a->g, "([A-Za-z_]\\w*)", rest, &word)) {
            similar_try(&n, word.group[0]);
            rest = piece_after(rest, word.all);
        }
        suggest(a->d, 10, 0.92, "Line %u defines it as `%.*s`: %s%s%s", number, P(definition),
                n.best[0] ? "did you mean '" : "it takes no such argument.", n.best,
                n.best[0] ? "'?" : "");
        if (n.best[0])
            (void)suggest_swap(a->in, a->d, m.group[0], n.best);
        return;
    }
    bool missing = match(
        a->g, "missing \\d+ required (?:positional|keyword-only) arguments?: (.+)$", what, &m);
    suggest(a->d, 10, 0.92, "Line %u defines it as `%.*s`: %s%.*s.", number, P(definition),
            missing ? "give " : "call it with that number of arguments",
            P(missing ? m.group[0] : NO_PIECE));
}

/* A name that is called in the line although a line above assigned a value to it. */
static bool shadowed(const struct advice *a, unsigned rule)
{
    struct piece rest = a->line, value;
    struct match m;
    uint32_t number;
    while (rest.len > 0 && match(a->g, "([A-Za-z_]\\w*)\\(", rest, &m)) {
        struct piece name = m.group[0];
        if (py_assigned(a, name, &value, &number)) {
            if (piece_among(name, py_builtins))
                suggest(a->d, rule, 0.95,
                        "Line %u assigns to the name '%.*s' and so hides the built-in %.*s(): use "
                        "another name there.",
                        number, P(name), P(name));
            else
                suggest(a->d, rule, 0.85,
                        "'%.*s' holds a value since line %u and is not a function: remove the "
                        "brackets after it, or use another name there.",
                        P(name), number);
            return true;
        }
        rest = piece_after(rest, m.all);
    }
    return false;
}

/* `x.area()` where area is a property, which is not called. */
static bool is_property(const struct advice *a)
{
    struct match m;
    struct piece left = a->line, at;
    uint32_t number;
    const struct source_file *f;
    while (left.len > 0 && match(a->g, "\\.(\\w+)\\(\\)", left, &m)) {
        if (py_defined(a, m.group[0], &at, &number, &f) && number > 1 &&
            piece_has(source_line(f, number - 1), "property")) {
            char call[128], plain[128];
            (void)snprintf(call, sizeof call, ".%.*s()", P(m.group[0]));
            (void)snprintf(plain, sizeof plain, ".%.*s", P(m.group[0]));
            suggest(a->d, 12, 0.94, "'%.*s' is a property (line %u): it is read without brackets.",
                    P(m.group[0]), number);
            (void)suggest_swap(a->in, a->d, piece_of(call), plain);
            return true;
        }
        left = piece_after(left, m.all);
    }
    return false;
}

static void on_not_callable(const struct advice *a)
{
    struct piece type = a->m.group[0];
    struct match m;
    if (piece_is(type, "NoneType"))
        return;
    if (piece_is(type, "module") && match(a->g, "([A-Za-z_]\\w*)\\(", a->line, &m)) {
        suggest(a->d, 12, 0.9,
                "'%.*s' is the module: call a function in it, such as %.*s.%.*s(...).",
                P(m.group[0]), P(m.group[0]), P(m.group[0]));
        return;
    }
    if ((piece_is(type, "dict") || piece_is(type, "list") || piece_is(type, "tuple") ||
         piece_is(type, "str")) &&
        match(a->g, "([A-Za-z_]\\w*)\\(([^()]*)\\)", a->line, &m) &&
        !piece_among(m.group[0], py_builtins)) {
        char old[200], now[200];
        (void)snprintf(old, sizeof old, "%.*s", P(piece_cut(m.all, 190)));
        (void)snprintf(now, sizeof now, "%.*s[%.*s]", P(m.group[0]), P(m.group[1]));
        suggest(a->d, 12, 0.88,
                "'%.*s' is a %.*s, not a function: take an item with square brackets.",
                P(m.group[0]), P(type));
        (void)suggest_swap(a->in, a->d, piece_of(old), now);
        return;
    }
    if (match(a->g, "\\b(\\d+(?:\\.\\d+)?)\\s*\\(", a->line, &m)) {
        suggest(a->d, 12, 0.92,
                "A number cannot be called: write the multiplication out, %.*s * (...).",
                P(m.group[0]));
        return;
    }
    if (is_property(a) || shadowed(a, 12))
        return;
    if (piece_is(type, "tuple") || piece_is(type, "str") || piece_is(type, "list"))
        suggest(a->d, 12, 0.6,
                "A comma may be missing before the bracket: `(a, b) (c, d)` calls the first with "
                "the second.");
    else
        suggest(a->d, 12, 0.6,
                "The value is a%s %.*s, not a function: remove the brackets, or check the line "
                "that gave the name this value.",
                type.len && strchr("aeiou", piece_byte(type, 0)) ? "n" : "", P(type));
}

static void on_not_subscriptable(const struct advice *a)
{
    struct piece type = a->m.group[0];
    struct match m;
    if (piece_is(type, "NoneType"))
        return;
    if (piece_is(type, "coroutine")) {
        py_not_awaited(a);
        return;
    }
    bool function = piece_is(type, "function") || piece_is(type, "method") ||
                    piece_is(type, "builtin_function_or_method");
    if (function && match(a->g, "([\\w.]+)\\[([^\\]]*)\\]", a->line, &m)) {
        char old[200], called[200];
        bool direct = !piece_has(m.group[0], ".");
        (void)snprintf(old, sizeof old, "%.*s", P(piece_cut(m.all, 190)));
        (void)snprintf(called, sizeof called, direct ? "%.*s(%.*s)" : "%.*s()[%.*s]", P(m.group[0]),
                       P(m.group[1]));
        suggest(a->d, 12, 0.92, "'%.*s' is a function: call it with round brackets, %s.",
                P(m.group[0]), called);
        (void)suggest_swap(a->in, a->d, piece_of(old), called);
        return;
    }
    if (piece_is(type, "set")) {
        suggest(
            a->d, 12, 0.85,
            "A set has no order and no first item: list(x)[0] or next(iter(x)) takes one item.");
        return;
    }
    if (match(a->g, "^dict_(\\w+)$|^(map|filter|zip|generator)$", type, &m)) {
        suggest(a->d, 12, 0.9, "It has no positions, only an order: list(...) makes a list of it.");
        return;
    }
    if (piece_is(type, "type") && shadowed(a, 12))
        return;
    suggest(a->d, 12, 0.7,
            "A %.*s has no items to take with [...], but a list or dict does: check the line that "
            "gave it its value.",
            P(type));
}

static void on_no_item_assignment(const struct advice *a)
{
    if (piece_is(a->m.group[0], "str"))
        suggest(a->d, 0, 0.9,
                "Strings cannot be changed: build a new one (x[:i] + new + x[i+1:]), or work on "
                "list(x) and ''.join() it.");
    else if (piece_is(a->m.group[0], "tuple"))
        suggest(a->d, 0, 0.9, "Tuples cannot be changed: use a list ([...]), or make a new tuple.");
    else
        suggest(a->d, 0, 0.5, "The items of a %.*s cannot be changed: make a new one.",
                P(a->m.group[0]));
}

#include "diagnose/python_calls.rules.h" /* generated */
