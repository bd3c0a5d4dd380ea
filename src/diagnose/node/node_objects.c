/* Rules for JavaScript: undefined values, values that are not functions, constants. Runs in:
 * keeper. */
#include "diagnose/node/node.h"

#include <stdio.h>
#include <string.h>

#include "diagnose/node_objects.words.h" /* generated */

/* ---- undefined ---- */

static bool explain_undefined_call(const struct advice *a, struct piece code, const char *name,
                                   uint32_t line)
{
    for (size_t i = 0; undefined_calls[i].word; i++)
        if (piece_has(code, undefined_calls[i].word)) {
            if (name)
                suggest(a->d, 28, 0.92, "'%s' gets its value in line %u: %s.", name, line,
                        undefined_calls[i].text);
            else
                suggest(a->d, 28, 0.9, "In this line %s.", undefined_calls[i].text);
            return true;
        }
    return false;
}

/* Offers `a?.b` for `a.b` in the line. */
static void offer_optional(const struct advice *a, struct piece property)
{
    char dotted[128], optional[136];
    struct match m;
    (void)snprintf(dotted, sizeof dotted, ".%.*s", P(piece_cut(property, 100)));
    size_t from = a->d->location.column > 1 ? a->d->location.column - 1 : 1;
    if (piece_at(a->line, from) == '.' &&
        !match(a->g, "^\\.[\\w$.]*\\s*(?:[-+*/]?=)[^=]", piece_from(a->line, from), &m)) {
        suggest_replacement(a->d, "%.*s?%.*s", P(piece_before(a->line, from)),
                            P(piece_from(a->line, from)));
        return;
    }
    (void)snprintf(optional, sizeof optional, "?%s", dotted);
    if (!match(a->g, "[^=!<>]=[^=>]", a->line, &m))
        (void)suggest_swap(a->in, a->d, piece_of(dotted), optional);
}

/* The part of the line before the property. */
static struct piece before_property(const struct advice *a, struct piece property)
{
    char dotted[136];
    (void)snprintf(dotted, sizeof dotted, ".%.*s", P(piece_cut(property, 120)));
    size_t at = piece_find(a->line, dotted);
    return at < a->line.len ? piece_cut(a->line, at) : piece_before(a->line, a->d->location.column);
}

/* Explains, by the line that assigned it, why the name or the object it is part of has no value. */
static bool blame_assignment(const struct advice *a, struct piece name)
{
    struct piece value, function;
    uint32_t line = 0;
    char shown[96];
    struct piece root = piece_cut(name, piece_find(name, "."));
    bool whole = js_assigned(a, name, &value, &line);
    if (!whole && !js_assigned(a, root, &value, &line))
        return false;
    if (js_forgotten_await(a, value, &function)) {
        js_suggest_await(a, 28, function, line);
        return true;
    }
    COPY(name, shown);
    return whole && explain_undefined_call(a, value, shown, line);
}

/* Explains why the expression before the property has no value. */
static bool blame_line(const struct advice *a, struct piece before, struct piece property)
{
    struct piece function;
    if (js_forgotten_await(a, before, &function)) {
        js_suggest_await(a, 28, function, a->d->location.line);
        return true;
    }
    if (!explain_undefined_call(a, before, NULL, 0))
        return false;
    offer_optional(a, property);
    return true;
}

static void on_undefined(const struct advice *a)
{
    struct piece what = a->m.group[0], property = a->m.group[1];
    struct piece before = before_property(a, property), name = NO_PIECE;
    struct match m;
    bool named = before.len > 0 &&
                 match(a->g, "([A-Za-z_$][\\w$.]*)(\\[[^\\[\\]]*\\])?$", before, &m);
    if (named && m.group[1].at) {
        suggest(a->d, 28, 0.85,
                "%.*s%.*s is %.*s: that position or key does not exist. Check the index (a loop "
                "with <= length goes one too far), or test the value first.",
                P(m.group[0]), P(m.group[1]), P(what));
        offer_optional(a, property);
        return;
    }
    if (named) {
        name = m.group[0];
        if (blame_assignment(a, name))
            return;
    }
    if (blame_line(a, before, property))
        return;
    if (starts_with(name, "this"))
        suggest(a->d, 28, 0.8,
                "'this' is not the object here, because a function that is passed as a value loses "
                "it: use an arrow function, or bind(this).");
    else if (name.at)
        suggest(a->d, 28, 0.85,
                "'%.*s' is %.*s here: give it a value before, or read it with `?.`, which returns "
                "undefined instead of failing.",
                P(name), P(what));
    else
        suggest(a->d, 28, 0.8, "The value before it is %.*s: test it first, or read it with `?.`.",
                P(what));
    if (!starts_with(name, "this"))
        offer_optional(a, property);
}

static void on_destructure(const struct advice *a)
{
    struct piece value, function;
    uint32_t line;
    if (js_forgotten_await(a, a->line, &function)) {
        js_suggest_await(a, 28, function, a->d->location.line);
        return;
    }
    if (a->m.group[0].at && js_assigned(a, a->m.group[0], &value, &line) &&
        js_forgotten_await(a, value, &function)) {
        js_suggest_await(a, 28, function, line);
        return;
    }
    suggest(a->d, 28, 0.85,
            "The destructured value is undefined or null: give a default (`const { a } = x ?? {}`, "
            "or `= {}` for a parameter).");
}

/* ---- functions ---- */

static bool no_array(const struct advice *a, struct piece owner, struct piece value, uint32_t line)
{
    bool of_object = starts_with(value,
                                 "Object."); /* Object.keys() and similar functions return arrays */
    for (size_t i = 0; value.at && no_arrays[i].word; i++)
        if (piece_has(value, no_arrays[i].word) && !(of_object && no_arrays[i].word[0] == '.')) {
            suggest(a->d, 32, 0.92, "'%.*s' gets its value in line %u: %s.", P(owner), line,
                    no_arrays[i].text);
            return true;
        }
    suggest(a->d, 32, 0.8,
            "'%.*s' is not an array here: Object.values(%.*s) or Object.entries(%.*s) makes one of "
            "an object; console.log(%.*s) shows the value.",
            P(owner), P(owner), P(owner), P(owner));
    return true;
}

static void on_reduce(const struct advice *a)
{
    struct match m;
    suggest(a->d, 28, 0.94,
            "The array is empty, and reduce() has no first value: give it one, .reduce((a, b) => "
            "..., 0).");
    if (match(a->g, "^(.*\\.reduce\\(\\(?\\w+, ?\\w+\\)? => [^,{}()]+)(\\).*)$", a->line, &m))
        suggest_replacement(a->d, "%.*s, 0%.*s", P(m.group[0]), P(m.group[1]));
}

static bool is_habit(const struct advice *a, struct piece name)
{
    const char *advice = text_for(habits, name);
    if (advice)
        suggest(a->d, 32, 0.92, "%.*s: %s.", P(name), advice);
    return advice;
}

static bool no_text(const struct advice *a, struct piece owner, struct piece name)
{
    if (!piece_among(name, text_methods))
        return false;
    suggest(a->d, 32, 0.88,
            "'%.*s' is not text here: String(%.*s) makes text of it; console.log(typeof %.*s) "
            "shows its type.",
            P(owner), P(owner), P(owner));
    return true;
}

static void on_not_function(const struct advice *a)
{
    struct piece whole = a->m.group[0], value, function;
    struct piece name = piece_last_part(whole);
    bool dot = name.len < whole.len;
    struct piece owner = dot ? piece_cut(whole, whole.len - name.len - 1) : NO_PIECE;
    uint32_t line = 0;
    bool known = owner.at && js_assigned(a, owner, &value, &line);
    if (known && js_forgotten_await(a, value, &function)) {
        js_suggest_await(a, 32, function, line);
        return;
    }
    if (dot && is_habit(a, name))
        return;
    if (known && piece_among(name, array_methods) && starts_with(value, "{")) {
        suggest(a->d, 32, 0.92,
                "'%.*s' is an object since line %u, not an array: loop over its Object.keys(), "
                "Object.values() or Object.entries().",
                P(owner), line);
        return;
    }
    if (known && piece_among(name, array_methods) &&
        (starts_with(value, "\"") || starts_with(value, "'") || starts_with(value, "`"))) {
        suggest(a->d, 32, 0.9,
                "'%.*s' is text since line %u: [...%.*s] makes an array of its characters, split() "
                "makes one of its parts.",
                P(owner), line, P(owner));
        return;
    }
    if (dot && piece_among(name, array_methods) &&
        no_array(a, owner, known ? value : NO_PIECE, line))
        return;
    if (dot && no_text(a, owner, name))
        return;
    struct similar n = { .name = name };
    similar_try_list(&n, dot ? methods : js_globals);
    similar_try_sources(&n, a->in);
    if (n.best[0] && dot) {
        suggest(a->d, 32, 0.9, "Did you mean '.%s'?", n.best);
        (void)suggest_swap(a->in, a->d, name, n.best);
    } else if (!dot && js_assigned(a, name, &value, &line)) {
        suggest(a->d, 32, 0.85,
                "'%.*s' is a value since line %u, not a function: remove the brackets, or give one "
                "of the two another name.",
                P(name), line);
    } else if (dot) {
        suggest(a->d, 32, 0.7,
                "%.*s has no function '%.*s' here: console.log(typeof %.*s, %.*s) shows its type "
                "and value.",
                P(owner), P(name), P(owner), P(owner));
    } else {
        suggest(a->d, 32, 0.7,
                "'%.*s' is not a function here: check for a missing argument, an import without { "
                "}, or another value of that name.",
                P(name));
    }
}

static void on_without_new(const struct advice *a)
{
    char call[160], now[170];
    suggest(a->d, 32, 0.95, "A class is called with `new`: add it.");
    (void)snprintf(call, sizeof call, "%.*s(", P(a->m.group[0]));
    (void)snprintf(now, sizeof now, "new %s", call);
    (void)suggest_swap(a->in, a->d, piece_of(call), now);
}

static void on_not_iterable(const struct advice *a)
{
    struct piece value, function;
    uint32_t line;
    if (js_assigned(a, a->m.group[0], &value, &line) && js_forgotten_await(a, value, &function))
        js_suggest_await(a, 32, function, line);
    else if (js_assigned(a, a->m.group[0], &value, &line) && starts_with(value, "{"))
        suggest(a->d, 32, 0.92,
                "'%.*s' is an object since line %u: loop over Object.entries(%.*s), .keys or "
                ".values, or use for...in.",
                P(a->m.group[0]), line, P(a->m.group[0]));
    else
        suggest(a->d, 32, 0.8,
                "A loop can iterate over arrays, text, Maps, Sets and generators: Object.entries() "
                "makes an array of an object.");
}

static void on_const(const struct advice *a)
{
    struct match m;
    struct piece name = NO_PIECE;
    if (match(a->g,
              "([A-Za-z_$][\\w$]*)\\s*(?:\\+\\+|--|(?:[-+*/"
              "%|&^?]|\\*\\*|<<|>>|&&|\\|\\||\\?\\?)?=[^=>])",
              a->line, &m) ||
        match(a->g, "(?:\\+\\+|--)([A-Za-z_$][\\w$]*)", a->line, &m))
        name = m.group[0];
    struct piece rest = text_of_source(a->file), line;
    for (uint32_t i = 1; name.at && i < LINES_SEEN && next_line(&rest, &line); i++) {
        if (!match(a->g, "\\bconst\\s+([\\w$]+)", line, &m) || !piece_same(m.group[0], name))
            continue;
        size_t at = piece_find(line, "const");
        suggest(a->d, 33, 0.96,
                "'%.*s' is declared with const in line %u: use let there if it must change.",
                P(name), i);
        suggest_replacement(a->d, "%.*slet%.*s", P(piece_cut(line, at)),
                            P(piece_skip(line, at + 5)));
        return;
    }
    suggest(a->d, 33, 0.85, "The variable is declared with const: use let if it must change.");
}

#include "diagnose/node_objects.rules.h" /* generated */
