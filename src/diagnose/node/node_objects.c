/* Rules for JavaScript: undefined values, values that are not functions, constants. Runs in:
 * keeper. */
#include "diagnose/node/node.h"

#include <stdio.h>
#include <string.h>

#include "base/array.h"

static const char *const methods[] = { "push",          "pop",        "shift",
                                       "unshift",       "map",        "filter",
                                       "reduce",        "forEach",    "includes",
                                       "indexOf",       "find",       "findIndex",
                                       "some",          "every",      "join",
                                       "slice",         "splice",     "concat",
                                       "sort",          "reverse",    "flat",
                                       "flatMap",       "keys",       "values",
                                       "entries",       "toString",   "toUpperCase",
                                       "toLowerCase",   "trim",       "split",
                                       "replace",       "replaceAll", "substring",
                                       "startsWith",    "endsWith",   "charAt",
                                       "charCodeAt",    "padStart",   "padEnd",
                                       "repeat",        "match",      "toFixed",
                                       "then",          "catch",      "finally",
                                       "log",           "error",      "warn",
                                       "get",           "set",        "has",
                                       "delete",        "add",        "stringify",
                                       "parse",         "floor",      "ceil",
                                       "round",         "random",     "abs",
                                       "max",           "min",        "pow",
                                       "sqrt",          "assign",     "freeze",
                                       "isArray",       "from",       "hasOwnProperty",
                                       "test",          "exec",       "call",
                                       "apply",         "bind",       "readFileSync",
                                       "writeFileSync", "existsSync", NULL };

/* ---- undefined ---- */

static const struct {
    const char *call, *why;
} undefined_calls[] = {
    { ".find(", "find() returns undefined when no element fits: test the result first" },
    { ".get(", "get() returns undefined for a missing key: test the result first" },
    { ".match(", "match() returns null when nothing matches: test the result first" },
    { ".exec(", "exec() returns null when nothing matches: test the result first" },
    { "querySelector", "Node has no document, and querySelector() returns null when nothing fits: "
                       "test the result first" },
    { ".pop(", "pop() returns undefined when the array is empty: test its length first" },
    { ".shift(", "shift() returns undefined when the array is empty: test its length first" },
    { "process.env", "the variable is not set in the jar: pass it (--env NAME=VALUE, \"env\" in a "
                     "request), or give a default (?? '')" },
    { ".forEach(", "forEach() returns undefined: use map() to get the results" },
    { ".at(", "at() returns undefined past the end: test the result first" },
};

static bool explain_undefined_call(const struct advice *a, struct piece code, const char *name,
                                   uint32_t line)
{
    for (size_t i = 0; i < ARRAY_LEN(undefined_calls); i++)
        if (piece_has(code, undefined_calls[i].call)) {
            if (name)
                suggest(a->d, 28, 0.92, "'%s' gets its value in line %u: %s.", name, line,
                        undefined_calls[i].why);
            else
                suggest(a->d, 28, 0.9, "In this line %s.", undefined_calls[i].why);
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
    const char *dot = memchr(name.at, '.', name.len);
    struct piece root = { name.at, dot ? (size_t)(dot - name.at) : name.len };
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

static const struct {
    const char *method, *advice;
} habits[] = {
    { "length", "length is a value, not a function: remove the brackets" },
    { "size", "a Map or Set has size without brackets, an array has length" },
    { "contains", "in JavaScript it is includes()" },
    { "append", "arrays grow by push(), strings by +" },
    { "add", "arrays grow by push(); add() is for a Set" },
    { "push_back", "arrays grow by push()" },
    { "upper", "in JavaScript it is toUpperCase()" },
    { "lower", "in JavaScript it is toLowerCase()" },
    { "strip", "in JavaScript it is trim()" },
    { "format", "use a template: `...${x}...`" },
    { "items", "use Object.entries(x)" },
    { "isEmpty", "test length === 0 (or Object.keys(x).length === 0)" },
    { "equals", "compare with ===" },
    { "remove", "remove an item with filter(), or splice(index, 1)" },
    { "count", "count with x.filter(...).length" },
    { "startswith", "in JavaScript it is startsWith()" },
    { "endswith", "in JavaScript it is endsWith()" },
    { "extend", "add several items with push(...others)" },
    { "sum", "add the items with x.reduce((a, b) => a + b, 0)" },
    { "len", "use .length" },
};

static const char *const array_methods[] = { "map",   "filter",   "forEach", "reduce", "push",
                                             "find",  "join",     "some",    "every",  "sort",
                                             "slice", "includes", "concat",  NULL };

static const char *const text_methods[] = { "toUpperCase", "toLowerCase", "trim",     "split",
                                            "replace",     "replaceAll",  "charAt",   "padStart",
                                            "padEnd",      "startsWith",  "endsWith", "substring",
                                            "match",       "repeat",      NULL };

/* Calls whose result is not an array. */
static const struct {
    const char *call, *gives;
} no_arrays[] = {
    { ".push(", "push() returns the new length, not the array: call it on a line of its own" },
    { ".unshift(",
      "unshift() returns the new length, not the array: call it on a line of its own" },
    { ".forEach(", "forEach() returns undefined: use map()" },
    { ".join(", "join() returns text: keep the array itself" },
    { "JSON.stringify(", "JSON.stringify() returns text: keep the value itself" },
    { "Object.assign(",
      "Object.assign() returns an object, not an array: loop over its Object.values()" },
    { "new Set(", "a Set is not an array: [...set] makes one" },
    { "new Map(", "a Map is not an array: [...map.values()] makes one" },
    { ".keys(", "keys() returns an iterator: [...x.keys()] makes an array" },
    { ".values(", "values() returns an iterator: [...x.values()] makes an array" },
    { ".entries(", "entries() returns an iterator: [...x.entries()] makes an array" },
    { ".matchAll(", "matchAll() returns an iterator: [...text.matchAll(re)] makes an array" },
};

static bool no_array(const struct advice *a, struct piece owner, struct piece value, uint32_t line)
{
    bool of_object = starts_with(value,
                                 "Object."); /* Object.keys() and similar functions return arrays */
    for (size_t i = 0; value.at && i < ARRAY_LEN(no_arrays); i++)
        if (piece_has(value, no_arrays[i].call) && !(of_object && no_arrays[i].call[0] == '.')) {
            suggest(a->d, 32, 0.92, "'%.*s' gets its value in line %u: %s.", P(owner), line,
                    no_arrays[i].gives);
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
    for (size_t i = 0; i < ARRAY_LEN(habits); i++)
        if (piece_is(name, habits[i].method)) {
            suggest(a->d, 32, 0.92, "%.*s: %s.", P(name), habits[i].advice);
            return true;
        }
    return false;
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

const struct rule js_object_rules[] = {
    ON("TypeError",
       "^Cannot (?:read|set) propert(?:y|ies) of (undefined|null) \\((?:reading|setting) "
       "'([^']*)'\\)",
       on_undefined),
    ON("TypeError",
       "^Cannot destructure property '[^']*' of '([^']*)'|^Cannot destructure '([^']*)'",
       on_destructure),
    ON("TypeError", "^(?:undefined|null|object null) is not (?:iterable|a function)",
       on_destructure),
    ON("TypeError", "^Class constructor ([\\w$]+) cannot be invoked without 'new'", on_without_new),
    ON("TypeError",
       "^(?!undefined|null|object null)([\\w$.]+)(?:\\(\\.\\.\\.\\))?(?:\\.[\\w$]+)? is not a "
       "function",
       on_not_function),
    ON_SAY("TypeError", "^([\\w$.]+) is not a constructor", 32, 0.85,
           "'{1}' is not a class and cannot be called with new: check its import (with or without "
           "{ })."),
    ON("TypeError", "^(?!undefined|null|object null)([\\w$.]+) is not iterable", on_not_iterable),
    ON("TypeError", "^Reduce of empty array", on_reduce),
    ON_SAY(
        "TypeError", "^Right-hand side of|^Cannot use 'in' operator", 12, 0.8,
        "The right side is not a class or object: `in` needs an object, instanceof needs a class."),
    ON_SAY("TypeError", "^Cannot (?:read|write) private member (#\\w+)", 32, 0.85,
           "{1} is private: use it only inside its class, or add a public method."),
    ON_SAY("TypeError", "^Cannot set property (\\w+) of .* which has only a getter", 33, 0.88,
           "'{1}' has a getter and no setter: define `set {1}(value)`, or change the field behind "
           "it."),
    ON_SAY("ReferenceError", "^Must call super constructor", 10, 0.94,
           "The constructor of a class that extends another must call super(...) first: add the "
           "call."),
    ON("TypeError", "^Assignment to constant variable", on_const),
    ON_SAY("TypeError",
           "^Cannot assign to read only property '([^']+)'|^Cannot add property (\\S+), object is "
           "not extensible",
           33, 0.85,
           "The object is frozen, or the property is read-only: make a copy with the change, { "
           "...x, {1}: value }."),
    END_OF_RULES,
};
