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
    size_t own = 0;
    for (uint32_t i = 1; i < LINES_SEEN && next_line(&rest, &line); i++) {
        if (i == from)
            own = indent_of(line);
        else if (i > from && piece_trim(line).len > 0 && indent_of(line) <= own)
            return false;
        if (i > from && match(a->g, "^\\s*(?:async )?def (\\w+)", line, &m) &&
            piece_same(m.group[0], last)) {
            *ret_line = piece_trim(line);
            *ret_number = i;
            return true;
        }
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
    if (!say_slip(a, a->m.group[1], a->m.group[0]) && !starts_with(a->m.group[1], "__"))
        suggest(a->d, 10, 0.7, "%.*s() has no argument '%.*s': help(%.*s) lists its arguments.",
                P(a->m.group[1]), P(a->m.group[0]), P(a->m.group[1]));
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

/* The first parameter is the object: it has one of the usual names, or the body reads its attributes. */
static bool uses_first(const struct advice *a, uint32_t number, struct piece list)
{
    static const char *const usual[] = { "self", "cls", "this", "mcs", "klass", "_", NULL };
    struct match m, used;
    if (!match(a->g, "^\\(\\s*(\\w+)", list, &m))
        return false;
    if (piece_among(m.group[0], usual))
        return true;
    if (starts_with(piece_trim(source_line(a->file, number - 1)), "@classmethod"))
        return false; /* its parameter is no object */
    for (uint32_t i = number + 1; i < number + BLANKS_NEAR; i++) {
        struct piece line = source_line(a->file, i);
        if (indent_of(line) <= indent_of(source_line(a->file, number)))
            break;
        if (match(a->g, "\\b(\\w+)\\.\\w", line, &used) && piece_same(used.group[0], m.group[0]))
            return true;
    }
    return false;
}

/* map(f, items), where f takes several values. */
static bool is_mapped(const struct advice *a, struct piece definition, struct piece what)
{
    struct match m;
    if (!starts_with(what, "missing ") ||
        !match(a->g, "(?:\\b|\\.)(map|filter|submit|apply)\\(", a->line, &m))
        return false;
    bool map = piece_is(m.group[0], "map");
    suggest(
        a->d, 10, 0.9,
        map ? "map() passes one value of each collection, and `%.*s` takes more: give it a "
              "collection for each, map(f, xs, ys), or unpack pairs, map(lambda p: f(*p), pairs)."
            : "The function is called with fewer values than `%.*s` takes: pass one for each of "
              "its parameters.",
        P(definition));
    return true;
}

/* A named argument that the function does not have. */
static void advise_keyword(const struct advice *a, uint32_t number, struct piece definition,
                           struct piece list, struct piece given)
{
    if (piece_has(list, "*args") && !piece_has(list, "**")) {
        suggest(a->d, 10, 0.93,
                "Line %u defines it as `%.*s`, which takes no named arguments: write `*args, "
                "**kwargs` there, and pass both on.",
                number, P(definition));
        return;
    }
    struct similar n = { .name = given };
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
        (void)suggest_swap(a->in, a->d, given, n.best);
}

static void on_arguments(const struct advice *a)
{
    struct piece name = a->m.group[0], what = a->m.group[1], definition;
    uint32_t number;
    struct match m;
    if (!definition_of(a, name, &definition, &number)) {
        if (explain_dataclass(a, name, what) || explain_library(a, name, what))
            return;
        if (match(a->g, "^missing \\d+ required (?:positional|keyword-only) arguments?: (.+)$",
                  what, &m))
            suggest(a->d, 10, 0.85, "%.*s() also needs %.*s: add it to the call.", P(name),
                    P(m.group[0]));
        else if (!starts_with(name, "<"))
            suggest(a->d, 10, 0.5, "%.*s() %.*s: help(%.*s) shows its parameters.", P(name),
                    P(what), P(name));
        return;
    }
    struct piece list = parameters(a, definition);
    if (match(a->g, "^got multiple values for argument '(\\w+)'", what, &m)) {
        suggest(
            a->d, 10, 0.92,
            "Line %u defines it as `%.*s`, and the call gives '%.*s' twice, by its place and by "
            "its name: remove one of the two%s.",
            number, P(definition), P(m.group[0]),
            py_in_class(py_scope_of(a, number)) && !uses_first(a, number, list)
                ? ". A method gets its object first: add `self`"
                : "");
        return;
    }
    if (is_wrapped(a, number, list, what) || wants_names(a, number, definition, what) ||
        lacks_object(a, name, number, list, what) || lacks_stars(a, what))
        return;
    if (match(a->g, "^takes (\\d+) positional arguments? but (\\d+) w", what, &m) &&
        piece_number(m.group[1]) == piece_number(m.group[0]) + 1 && list.at &&
        py_in_class(py_scope_of(a, number)) && !uses_first(a, number, list)) {
        bool empty = piece_is(list, "()");
        bool of_class = starts_with(piece_trim(source_line(a->file, number - 1)), "@classmethod");
        suggest(a->d, 10, 0.93,
                "A method gets its %s first: line %u should be `def %.*s(%s%s%.*s`.",
                of_class ? "class" : "object", number,
                P(piece_skip(piece_cut(definition, piece_offset(definition, list)), 4)),
                of_class ? "cls" : "self", empty ? "" : ", ", P(piece_skip(list, 1)));
        return;
    }
    if (match(a->g, "^got an unexpected keyword argument '(\\w+)'", what, &m)) {
        advise_keyword(a, number, definition, list, m.group[0]);
        return;
    }
    if (is_mapped(a, definition, what))
        return;
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

/* `names(0)`: a value of the program that is called where an item of it is meant. */
static bool takes_item(const struct advice *a, struct piece type)
{
    static const char *const containers[] = { "dict", "list", "tuple", "str", NULL };
    struct piece left = a->line, value, at;
    uint32_t number;
    const struct source_file *f;
    struct match m;
    if (!piece_among(type, containers))
        return false;
    for (; left.len > 0 && match(a->g, "([A-Za-z_]\\w*)\\(([^()]+)\\)", left, &m);
         left = piece_after(left, m.all)) {
        bool own = py_assigned(a, m.group[0], &value, &number) ||
                   has_word(py_scope_of(a, a->d->location.line).head, m.group[0]);
        if (piece_among(m.group[0], py_builtins) || !own ||
            py_defined(a, m.group[0], &at, &number, &f) ||
            piece_at(a->line, piece_offset(a->line, m.all)) == '.')
            continue;
        char old[200], now[200];
        (void)snprintf(old, sizeof old, "%.*s", P(piece_cut(m.all, 190)));
        (void)snprintf(now, sizeof now, "%.*s[%.*s]", P(m.group[0]), P(m.group[1]));
        suggest(a->d, 12, 0.88,
                "'%.*s' is a %.*s, not a function: take an item with square brackets.",
                P(m.group[0]), P(type));
        if (!piece_has(m.group[1], ",") && !piece_has(m.group[1], "="))
            (void)suggest_swap(a->in, a->d, piece_of(old), now);
        return true;
    }
    return false;
}

/* `user.name()` where the attribute is a value. */
static bool is_called_value(const struct advice *a, struct piece type)
{
    struct match m;
    struct piece at;
    uint32_t number;
    const struct source_file *f;
    if (!match(a->g, "([\\w.]+\\.(\\w+))\\(\\)", a->line, &m) ||
        match(a->g, "\\w\\(.*\\.\\w+\\(\\).*\\.\\w+\\(", a->line, &(struct match){ 0 }) ||
        py_defined(a, m.group[1], &at, &number, &f))
        return false;
    suggest(a->d, 12, 0.85, "`%.*s` is a %.*s, not a method: remove the brackets behind it.",
            P(m.group[0]), P(type));
    return true;
}

/* `math(16)`: the first name in the line that is called and that the program imports as a module. */
static void advise_module(const struct advice *a)
{
    struct piece rest = a->line;
    struct match m;
    for (unsigned n = 0;
         n < NAMES_ASKED && rest.len > 0 && match(a->g, "([A-Za-z_]\\w*)\\(", rest, &m);
         n++, rest = piece_after(rest, m.all)) {
        struct piece name = m.group[0];
        bool same = piece_among(name, callable_modules);
        if (!py_line_with(a, "^\\s*import (?:[\\w.]+ as )?(\\w+)", name) &&
            !py_line_with(a, "^\\s*from [\\w.]+ import (\\w+)\\s*$", name))
            continue;
        suggest(a->d, 12, 0.9, "'%.*s' is the module: call a function in it, %.*s.%.*s(...).",
                P(name), P(name), P(same ? name : PIECE("name")));
        return;
    }
    suggest(a->d, 12, 0.7,
            "A name that is called in this line is a module: call a function in it, "
            "module.name(...).");
}

static void on_not_callable(const struct advice *a)
{
    struct piece type = a->m.group[0];
    struct match m;
    if (piece_is(type, "NoneType"))
        return;
    if (piece_is(type, "module")) {
        advise_module(a);
        return;
    }
    if (is_property(a) || takes_item(a, type))
        return;
    if (match(a->g, "\\b(\\d+(?:\\.\\d+)?)\\s*\\(", a->line, &m)) {
        suggest(a->d, 12, 0.92,
                "A number cannot be called: write the multiplication out, %.*s * (...).",
                P(m.group[0]));
        return;
    }
    if (shadowed(a, 12) || is_called_value(a, type))
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

/* `f[x]`, where f is a function: of the program itself, or made by the line that gave the name its value. */
static void on_function_item(const struct advice *a, const struct match *item)
{
    char old[200], called[200];
    struct piece name = item->group[0], definition, value;
    uint32_t number;
    struct match m;
    if (!piece_has(name, ".") && !definition_of(a, name, &definition, &number) &&
        py_assigned(a, name, &value, &number) && match(a->g, "^([\\w.]+)\\(", value, &m)) {
        suggest(a->d, 12, 0.88,
                "'%.*s' is a function since line %u, because %.*s() returned one: call '%.*s' "
                "first, or let %.*s() return the value.",
                P(name), number, P(m.group[0]), P(name), P(m.group[0]));
        return;
    }
    bool direct = !piece_has(name, ".") && !(definition_of(a, name, &definition, &number) &&
                                             piece_is(parameters(a, definition), "()"));
    (void)snprintf(old, sizeof old, "%.*s", P(piece_cut(item->all, 190)));
    (void)snprintf(called, sizeof called, direct ? "%.*s(%.*s)" : "%.*s()[%.*s]", P(name),
                   P(item->group[1]));
    suggest(a->d, 12, 0.92, "'%.*s' is a function: call it with round brackets, %s.", P(name),
            called);
    (void)suggest_swap(a->in, a->d, piece_of(old), called);
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
        on_function_item(a, &m);
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
    struct piece class;
    uint32_t line;
    const struct source_file *f;
    if (py_defined(a, type, &class, &line, &f)) {
        suggest(a->d, 12, 0.88,
                "An object of the class %.*s (line %u) has attributes, no items: write x.name, or "
                "define __getitem__ in the class.",
                P(type), line);
        return;
    }
    suggest(a->d, 12, 0.7,
            "A value of the type %.*s has no items to take with [...], but a list or dict does: "
            "check the line that gave it its value.",
            P(type));
}

static void on_abstract(const struct advice *a)
{
    struct piece class = a->m.group[0], methods = a->m.group[1], head;
    uint32_t number;
    const struct source_file *f;
    struct match m;
    bool abstract = py_defined(a, class, &head, &number, &f) &&
                    match(a->g, "\\((?:\\w+\\.)?(?:ABC|metaclass=)", head, &m);
    if (abstract)
        suggest(a->d, 0, 0.9,
                "%.*s (line %u) is an abstract class, which is not made itself: derive a class "
                "from it that defines %.*s, and make an object of that.",
                P(class), number, P(methods));
    else
        suggest(a->d, 0, 0.88, "%.*s must define %.*s, which its base class only declares.",
                P(class), P(methods));
}

static void on_no_item_assignment(const struct advice *a)
{
    if (piece_is(a->m.group[0], "str"))
        suggest(a->d, 0, 0.9,
                "Strings cannot be changed: build a new one (x[:i] + new + x[i+1:]), or work on "
                "list(x) and ''.join() it.");
    else if (piece_is(a->m.group[0], "tuple"))
        suggest(a->d, 0, 0.9, "Tuples cannot be changed: use a list ([...]), or make a new tuple.");
    else if (piece_is(a->m.group[0], "set"))
        suggest(a->d, 0, 0.92,
                "A set has no positions or keys: add(value) puts a value in it; for values by key "
                "use a dict, {}.");
    else
        suggest(a->d, 0, 0.6,
                "A value of the type %.*s takes no values by [...]: a list or a dict does. Check "
                "the line that gave it its value.",
                P(a->m.group[0]));
}

#include "diagnose/python_calls.rules.h" /* generated */
