/* Rules for JavaScript: values that cannot be iterated, constants. Runs in: keeper. */
#include "diagnose/node/node.h"

#include <stdio.h>
#include <string.h>

/* ---- iteration ---- */

/* for (const x of f()) */
static void on_result_iterated(const struct advice *a)
{
    struct piece function = piece_last_part(a->m.group[0]), awaited;
    const struct source_file *f;
    struct match m;
    uint32_t alone = 0, number = js_function(a, function, &f);
    if (js_async_generator(a, a->line, &awaited))
        js_suggest_for_await(a, awaited);
    else if (js_forgotten_await(a, a->line, &awaited))
        js_suggest_await(a, 32, awaited, a->d->location.line);
    else if (match(a->g, "^\\s*(?:const|let|var)\\s*\\[([^\\]]*)\\]\\s*=", a->line, &m))
        suggest(a->d, 32, 0.88,
                "%.*s() returns no array, so [ ] cannot take it apart: write { %.*s } if it "
                "returns an object "
                "with these names, or return an array.",
                P(function), P(m.group[0]));
    else if (number && !js_returns(a, f, number, &alone))
        suggest(a->d, 32, 0.92, "%.*s() (line %u) returns nothing: return the values in it.",
                P(function), number);
    else
        suggest(
            a->d, 32, 0.8,
            "%.*s() returns a value that cannot be iterated: Object.entries(x) makes an array of "
            "an object.",
            P(function));
}

/* new Map({}), Array.from(undefined), Promise.all(x): the value, and not a name, is in the message. */
static void on_value_iterated(const struct advice *a)
{
    static const struct word_pair calls[] = {
        { "new Map(", "new Map() takes a list of pairs: new Map(Object.entries(x)) for an object, "
                      "new Map([[\"a\", 1]])" },
        { "new Set(", "new Set() takes a list: new Set([a, b])" },
        { "Promise.all", "Promise.all() takes a list of promises: Promise.all([a, b])" },
        { "Object.fromEntries(", "Object.fromEntries() takes a list of pairs: [[\"a\", 1]]" },
        { "Array.from(",
          "Array.from() takes a list, and the value is undefined or null: write x ?? []" },
        { "Math.m", "Math.max() and Math.min() take numbers: ...x needs a list, "
                    "...Object.values(x) for an object" },
        { NULL, NULL },
    };
    bool none = piece_is(a->m.group[1], "undefined") || ends_with(a->m.group[1], "null");
    char spread[100];
    (void)snprintf(spread, sizeof spread, "...%.*s", P(piece_cut(a->m.group[1], 90)));
    if (a->m.group[1].len > 0 && !none && piece_has(a->line, spread)) {
        suggest(a->d, 32, 0.93,
                "'%.*s' is undefined or null here, and `...` needs an array: check the line that "
                "gives it its value (not every item may have it), give it a default, %.*s = [], or "
                "write ...(%.*s ?? []).",
                P(a->m.group[1]), P(piece_last_part(a->m.group[1])), P(a->m.group[1]));
        return;
    }
    const struct word_pair *call = pair_in(calls, a->line);
    if (call)
        suggest(a->d, 32, 0.92, "%s.", call->text);
    else if (!none)
        suggest(a->d, 32, 0.85, "%.*s %.*s cannot be iterated: pass a list, [...].",
                P(a->m.group[0]), P(a->m.group[1]));
}

/* more = base.push(x): the value is the result of a call that returns no array. */
static bool is_no_array_call(const struct advice *a, struct piece name, struct piece value,
                             uint32_t line)
{
    static const struct word_pair calls[] = {
        { ".push(", "push() returns the new length, not the array: call it on a line of its own" },
        { ".unshift(",
          "unshift() returns the new length, not the array: call it on a line of its own" },
        { ".forEach(", "forEach() returns undefined: use map()" },
        { NULL, NULL },
    };
    const struct word_pair *call = pair_in(calls, value);
    if (call)
        suggest(a->d, 32, 0.92, "'%.*s' gets its value in line %u: %s.", P(name), line, call->text);
    return call != NULL;
}

static void on_not_iterable(const struct advice *a)
{
    struct piece value = NO_PIECE, function;
    uint32_t line;
    if (js_assigned(a, a->m.group[0], &value, &line) && js_async_generator(a, value, &function))
        js_suggest_for_await(a, function);
    else if (value.at && js_forgotten_await(a, value, &function))
        js_suggest_await(a, 32, function, line);
    else if (js_function_is_not_called(a, a->m.group[0], NO_PIECE) ||
             (value.at && is_no_array_call(a, a->m.group[0], value, line)))
        return;
    else if (value.at && strcmp(js_kind_of(a, value), "number") == 0 && !piece_has(a->line, "..."))
        suggest(a->d, 32, 0.93,
                "'%.*s' is a number since line %u: count with for (let i = 0; i < %.*s; i++).",
                P(a->m.group[0]), line, P(a->m.group[0]));
    else if (js_assigned(a, a->m.group[0], &value, &line) && starts_with(value, "{"))
        suggest(a->d, 32, 0.92,
                "'%.*s' is an object since line %u: loop over Object.entries(%.*s), .keys or "
                ".values, or use for...in.",
                P(a->m.group[0]), line, P(a->m.group[0]));
    else if (match(a->g, "^\\s*(?:const|let|var)?\\s*\\[[^\\]]*\\]\\s*=[^=]|\\(\\[", a->line,
                   &(struct match){ 0 }))
        suggest(
            a->d, 32, 0.9,
            "'%.*s' is no array, so it cannot be taken apart with [ ]: test it first, or give a "
            "default, `= %.*s ?? []`.",
            P(a->m.group[0]), P(a->m.group[0]));
    else if (piece_has(a->line, "..."))
        suggest(a->d, 32, 0.9,
                "`...` needs an array or text, and '%.*s' is neither: ...(%.*s ?? []), or "
                "...Object.values(%.*s) for an object.",
                P(a->m.group[0]), P(a->m.group[0]), P(a->m.group[0]));
    else
        suggest(a->d, 32, 0.8,
                "A loop can iterate over arrays, text, Maps, Sets and generators: Object.entries() "
                "makes an array of an object.");
}

/* ---- constants ---- */

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
    rest = text_of_source(a->file);
    for (uint32_t i = 1; i < LINES_SEEN && next_line(&rest, &line); i++) {
        bool imported = match(a->g, "^\\s*import\\s+(.*)\\s+from\\b", line, &m);
        if (!imported && !match(a->g, "\\bconst\\s*([{\\[].*|.*,.*)=", line, &m))
            continue;
        struct piece names = m.group[0], word, some = NO_PIECE;
        struct piece left = match(a->g, "^([^=]*)=", a->line, &m) ? m.group[0] : name;
        while (match(a->g, "([A-Za-z_$][\\w$]*)", left, &m)) {
            word = m.group[0];
            left = piece_after(left, m.all);
            if (has_word(names, word) && !some.at)
                some = word;
        }
        if (!some.at || i >= a->d->location.line)
            continue;
        if (imported)
            suggest(a->d, 33, 0.93,
                    "'%.*s' is imported in line %u, and an import cannot be changed: copy it, "
                    "let own = %.*s.",
                    P(some), i, P(some));
        else
            suggest(a->d, 33, 0.95,
                    "'%.*s' is declared with const in line %u: use let there if it must change.",
                    P(some), i);
        return;
    }
    suggest(a->d, 33, 0.85, "The variable is declared with const: use let if it must change.");
}

#include "diagnose/node_values.rules.h" /* generated */
