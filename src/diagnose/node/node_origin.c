/* Rules for JavaScript: where a value without the expected property comes from, by the lines of the program. Runs
 * in: keeper. */
#include "diagnose/node/node.h"

#include <stdio.h>
#include <string.h>

#include "diagnose/node_origin.words.h" /* generated */

enum {
    LINES_ABOVE = 24
}; /* lines above the location in which a parameter or a function is searched */

/* ---- the lines of the program about a name ---- */

struct piece js_collection(const struct advice *a, struct piece name, uint32_t *ret_line)
{
    struct piece rest = text_of_source(a->file), line, last = piece_last_part(name);
    bool own = starts_with(name, "this.") && last.len + 5 == name.len;
    struct match m;
    for (uint32_t i = 1; name.at && i < LINES_SEEN && next_line(&rest, &line); i++)
        if (match(a->g,
                  "([\\w$.#]+)\\s*(?::[^=]*)?=\\s*new "
                  "(Map|Set|WeakMap|WeakSet|URLSearchParams|Headers|FormData|Date|URL)\\b",
                  line, &m) &&
            (piece_same(m.group[0], name) || (own && piece_same(m.group[0], last)))) {
            *ret_line = i;
            return m.group[1];
        }
    return NO_PIECE;
}

bool js_declared_by(const struct advice *a, struct piece name, struct js_origin *ret)
{
    struct match m;
    uint32_t line = a->d->location.line;
    for (uint32_t n = line; n > 0 && line - n < LINES_ABOVE; n--) {
        struct piece text = source_line(a->file, n);
        if (match(a->g,
                  "\\bfor\\s*(?:await\\s*)?\\(\\s*(?:const|let|var)\\s+([\\w$]+)\\s+(of|in)\\s+(["
                  "\\w$."
                  "]+)\\s*\\)",
                  text, &m) &&
            piece_same(m.group[0], name)) {
            *ret = (struct js_origin){ .by = m.group[1], .from = m.group[2], .line = n };
            return true;
        }
        if (match(
                a->g,
                "([\\w$.]+)\\.(map|forEach|filter|find|some|every|flatMap|findIndex|reduce)\\(\\s*"
                "(?:async\\s+)?(?:function\\s*)?\\(?\\s*([\\w$]+)\\s*(?:[,)]|=>)",
                text, &m) &&
            piece_same(m.group[2], name)) {
            *ret = (struct js_origin){ .by = m.group[1], .from = m.group[0], .line = n };
            return true;
        }
    }
    return false;
}

/* The value of `const { name } = value` in a line above the location. */
static bool taken_apart(const struct advice *a, struct piece name, struct piece *ret_value,
                        uint32_t *ret_line)
{
    struct piece rest = text_of_source(a->file), line;
    struct match m;
    bool found = false;
    for (uint32_t i = 1; i <= a->d->location.line && i < LINES_SEEN && next_line(&rest, &line); i++)
        if (match(a->g, "^\\s*(?:const|let|var)\\s*[{\\[](.*)[}\\]]\\s*=\\s*([^=].*?);?\\s*$", line,
                  &m) &&
            has_word(m.group[0], name)) {
            *ret_value = m.group[1];
            *ret_line = i;
            found = true;
        }
    return found;
}

bool js_promises(const struct advice *a, struct piece value, struct piece *ret_function)
{
    struct match m;
    if (match(a->g, "\\bawait\\b[^=]*\\.map\\(|Promise\\.", value, &m) ||
        !match(a->g, "\\.map\\(\\s*(?:(async\\b)|([\\w$]+)\\s*\\)|.*?=>\\s*([\\w$.]+)\\()", value,
               &m))
        return false;
    if (m.group[0].at) {
        *ret_function = NO_PIECE;
        return true;
    }
    struct piece named = m.group[1].at ? m.group[1] : piece_last_part(m.group[2]);
    *ret_function = named;
    return js_is_async(a, named, false);
}

/* ---- callbacks without return ---- */

bool js_callback_returns_nothing(const struct advice *a, struct piece value, uint32_t line)
{
    struct match m;
    uint32_t alone = 0;
    if (!match(a->g, "\\.(map|flatMap|filter|reduce|find)\\((.*)", value, &m) ||
        !match(a->g, "=>\\s*\\{|\\bfunction\\b", m.group[1], &(struct match){ 0 }) ||
        js_returns(a, a->file, line, &alone))
        return false;
    const char *effect = text_for(without_return, m.group[0]);
    suggest(
        a->d, 28, 0.93,
        "The callback of %.*s() in line %u has { } and no `return`, %s: write `return` before the "
        "value, or leave the { } out%s.",
        P(m.group[0]), line, effect ? effect : "so it returns undefined",
        piece_has(m.group[1], ":") ? "; an object stands in round brackets, => ({ ... })" : "");
    return true;
}

/* `acc` of a reduce() whose callback returns nothing. */
static bool is_accumulator(const struct advice *a, struct piece name)
{
    struct js_origin from;
    return js_declared_by(a, name, &from) && piece_is(from.by, "reduce") &&
           js_callback_returns_nothing(a, source_line(a->file, from.line), from.line);
}

/* ---- Maps and Sets that are used like objects ---- */

/* `key` is the text between the brackets, or the name behind the dot. */
static bool is_map_like(const struct advice *a, struct piece owner, struct piece key, bool dotted,
                        uint32_t at)
{
    uint32_t line = 0;
    char from[200], to[210];
    struct piece kind = js_collection(a, owner, &line);
    if (!kind.at && ends_with(owner, "searchParams"))
        kind = piece_of("URLSearchParams");
    if (!kind.at || key.len > 60 || owner.len > 60)
        return false;
    if (piece_is(kind, "Set") || piece_is(kind, "WeakSet")) {
        suggest(
            a->d, 28, 0.93,
            "'%.*s' is a Set (line %u), which has no positions and no keys: [...%.*s][0] is its "
            "first value, and has(value) tests one.",
            P(owner), line, P(owner));
        return true;
    }
    if (piece_is(kind, "Date") || piece_is(kind, "URL"))
        return false;
    (void)snprintf(from, sizeof from, dotted ? "%.*s.%.*s" : "%.*s[%.*s]", P(owner), P(key));
    (void)snprintf(to, sizeof to, dotted ? "%.*s.get(\"%.*s\")" : "%.*s.get(%.*s)", P(owner),
                   P(key));
    char where[32] = "";
    if (line)
        (void)snprintf(where, sizeof where, " (line %u)", line);
    suggest(a->d, 28, 0.94,
            "'%.*s' is a %.*s%s, and its values are read with get(): write %s for %s%s.", P(owner),
            P(kind), where, to, from,
            at && at != a->d->location.line ? " in the line that "
                                              "gives the value"
                                            : "");
    if (at == a->d->location.line)
        (void)suggest_swap(a->in, a->d, piece_of(from), to);
    return true;
}

bool js_map_used_as_object(const struct advice *a, struct piece code, uint32_t line)
{
    struct match m;
    if (match(a->g, "([A-Za-z_$][\\w$.]*)\\[([^\\[\\]]+)\\]$", code, &m))
        return is_map_like(a, m.group[0], m.group[1], false, line);
    if (!match(a->g, "([A-Za-z_$][\\w$.]*)\\.([A-Za-z_$][\\w$]*)$", code, &m) ||
        piece_is(m.group[0], "this"))
        return false;
    return is_map_like(a, m.group[0], m.group[1], true, line);
}

/* groups[key].push(x) and groups.get(key).push(x) before the first value. */
static bool is_first_of_group(const struct advice *a, struct piece before, struct piece property)
{
    struct match m, item;
    uint32_t line = 0;
    if (!piece_among(property, growing))
        return false;
    if (match(a->g, "([A-Za-z_$][\\w$.]*)\\.get\\(((?:[^()]|\\([^()]*\\))+)\\)$", before, &m)) {
        suggest(a->d, 28, 0.93,
                "%.*s has no list for a new key yet: make it before, if (!%.*s.has(%.*s)) "
                "%.*s.set(%.*s, []);",
                P(m.group[0]), P(m.group[0]), P(m.group[1]), P(m.group[0]), P(m.group[1]));
        return true;
    }
    if (!match(a->g, "([A-Za-z_$][\\w$.]*)\\[((?:[^\\[\\]]|\\[[^\\[\\]]*\\])+)\\]$", before, &m) ||
        js_collection(a, m.group[0], &line).at || match(a->g, "^\\d+$", m.group[1], &item))
        return false;
    struct piece value;
    bool list = js_assigned(a, m.group[0], &value, &line) && starts_with(value, "[");
    if (list)
        suggest(a->d, 28, 0.9,
                "%.*s[%.*s] does not exist yet: put a list there first, %.*s[%.*s] ?\?= [];",
                P(m.group[0]), P(m.group[1]), P(m.group[0]), P(m.group[1]));
    else
        suggest(
            a->d, 28, 0.93,
            "%.*s has no list for a new key yet: make it first, (%.*s[%.*s] ?\?= []).%.*s(...).",
            P(m.group[0]), P(m.group[0]), P(m.group[1]), P(property));
    suggest_replacement(a->d, "%.*s(%.*s[%.*s] ?\?= [])%.*s",
                        P(piece_cut(a->line, piece_offset(a->line, m.all))), P(m.group[0]),
                        P(m.group[1]), P(piece_after(a->line, m.all)));
    return true;
}

/* ---- `this` ---- */

/* The line that passes the method as a value, without its object. */
static bool passed_as_value(const struct advice *a, struct piece method)
{
    struct piece rest = text_of_source(a->file), line;
    struct match m;
    for (uint32_t i = 1; i < LINES_SEEN && next_line(&rest, &line); i++) {
        struct piece more = line;
        for (unsigned n = 0;
             n < NAMES_ASKED &&
             match(a->g, "([A-Za-z_$][\\w$.]*)\\.([\\w$]+)\\s*(?=[,;)]|$)", more, &m);
             n++, more = piece_after(line, m.all)) {
            if (!piece_same(m.group[1], method) ||
                match(a->g, "^\\s*=[^=]", piece_after(line, m.all), &(struct match){ 0 }))
                continue;
            suggest(a->d, 28, 0.93,
                    "Line %u passes %.*s.%.*s as a value, and the method loses its object: write "
                    "(...args) => %.*s.%.*s(...args), or %.*s.%.*s.bind(%.*s).",
                    i, P(m.group[0]), P(method), P(m.group[0]), P(method), P(m.group[0]), P(method),
                    P(m.group[0]));
            return true;
        }
        if (match(a->g, "^\\s*(?:const|let|var)\\s*\\{([^}]*)\\}\\s*=", line, &m) &&
            has_word(m.group[0], method)) {
            suggest(a->d, 28, 0.92,
                    "Line %u takes %.*s() out of its object, so `this` is undefined in it: keep "
                    "the object, and call "
                    "object.%.*s(...).",
                    i, P(method), P(method));
            return true;
        }
    }
    return false;
}

/* The first line above with a smaller indentation that begins a function. *m: the name of a method. */
static uint32_t function_around(const struct advice *a, struct match *m)
{
    uint32_t line = a->d->location.line;
    size_t indent = indent_of(a->line);
    if (match(a->g, "\\bfunction\\b|^\\s*(?:async\\s+)?([\\w$#]+)\\s*\\([^()]*\\)\\s*\\{", a->line,
              m))
        return line;
    for (uint32_t n = line - 1; n > 0 && line - n < LINES_ABOVE; n--) {
        struct piece text = source_line(a->file, n);
        if (piece_trim(text).len == 0 || indent_of(text) >= indent)
            continue;
        indent = indent_of(text);
        if (match(a->g,
                  "^\\s*(?:\\}\\s*else\\s*)?(?:if|for|while|switch|catch|with)\\b|^\\s*(?:else|try|"
                  "do|finally)\\b",
                  text, m))
            continue;
        if (match(a->g,
                  "\\bfunction\\b|[\\w$]+\\s*[:=]\\s*(?:async\\s*)?\\(?[^()]*\\)?\\s*=>|^\\s*(?:"
                  "async\\s+|"
                  "static\\s+)?\\*?([\\w$#]+)\\s*\\(.*\\)\\s*\\{",
                  text, m))
            return n;
    }
    return 0;
}

bool js_explain_this(const struct advice *a)
{
    struct match m, f;
    uint32_t line = function_around(a, &f);
    struct piece opener = source_line(a->file, line);
    if (!line)
        return false;
    if (match(a->g, "\\b(extends|class)\\b", opener, &m) && line != a->d->location.line)
        return false;
    if (match(a->g, "^\\s*([\\w$]+)\\s*:\\s*(?:async\\s*)?(?:\\([^()]*\\)|[\\w$]+)\\s*=>", opener,
              &m)) {
        suggest(
            a->d, 28, 0.93,
            "%.*s is an arrow function (line %u), which has no `this` of its own: write it as a "
            "method, %.*s(...) {.",
            P(m.group[0]), line, P(m.group[0]));
        return true;
    }
    if (match(a->g, "[(,=]\\s*(?:async\\s+)?function\\b\\s*\\(", opener, &m) &&
        (indent_of(opener) > 0 || line == a->d->location.line)) {
        suggest(
            a->d, 28, 0.93,
            "The function in line %u has its own `this`, which is not the object: write it as an "
            "arrow function, (...) => { ... }.",
            line);
        if (match(a->g, "^(.*[(,=]\\s*(?:async\\s+)?)function\\s*(\\([^()]*\\))\\s*\\{(.*)$",
                  opener, &m) &&
            line == a->d->location.line)
            suggest_replacement(a->d, "%.*s%.*s => {%.*s", P(m.group[0]), P(m.group[1]),
                                P(m.group[2]));
        return true;
    }
    return f.group[0].at && passed_as_value(a, f.group[0]);
}

/* this.items that no line gives a value. */
static bool is_never_set(const struct advice *a, struct piece name)
{
    struct piece rest = text_of_source(a->file), line, field = piece_last_part(name);
    struct similar near = { .name = field };
    struct match m;
    if (piece_has(text_of_source(a->file), " extends ") || field.len + 5 != name.len)
        return false;
    for (uint32_t i = 1; i < LINES_SEEN && next_line(&rest, &line); i++)
        while (line.len > 0 && match(a->g,
                                     "this\\.([\\w$]+)\\s*(?:\\?\\?|\\|\\|)?=[^=>]|^\\s*(?:"
                                     "static\\s+)?([\\w$]+)\\s*(?:=[^=>]|;)|([\\w$]+)\\s*[:(]",
                                     line, &m)) {
            struct piece word = m.group[0].at   ? m.group[0]
                                : m.group[1].at ? m.group[1]
                                                : m.group[2];
            if (piece_same(word, field))
                return false;
            if (m.group[0].at)
                similar_try(&near, word);
            line = piece_after(line, m.all);
        }
    if (near.best[0]) {
        char own[140];
        (void)snprintf(own, sizeof own, "this.%s", near.best);
        suggest(a->d, 28, 0.93,
                "No line gives '%.*s' a value, but there is '%s': did you mean that?", P(name),
                own);
        (void)suggest_swap(a->in, a->d, name, own);
    } else {
        suggest(a->d, 28, 0.9, "No line gives '%.*s' a value: do it in the constructor, %.*s = ...",
                P(name), P(name));
    }
    return true;
}

/* ---- promises ---- */

static bool is_of_promises(const struct advice *a, struct piece name)
{
    struct js_origin from;
    struct piece value, function = NO_PIECE, list = name;
    uint32_t line = 0;
    if (js_declared_by(a, name, &from))
        list = from.from;
    if (!js_assigned(a, list, &value, &line) || !js_promises(a, value, &function))
        return false;
    suggest(a->d, 26, 0.93,
            "'%.*s' is a list of promises (line %u): wait for all of them, const %.*s = await "
            "Promise.all(...), with the map(...) in the brackets.",
            P(list), line, P(list));
    return true;
}

/* `for (const u in users)` gives keys. */
static bool is_key_of_loop(const struct advice *a, struct piece name)
{
    struct js_origin from;
    if (!js_declared_by(a, name, &from) || !piece_is(from.by, "in"))
        return false;
    suggest(a->d, 12, 0.93,
            "for...in in line %u gives the keys (texts), not the values: write for (const %.*s of "
            "%.*s), or use %.*s[%.*s].",
            from.line, P(name), P(from.from), P(from.from), P(name));
    return true;
}

/* users[i + 1] in a loop with `in`, and users[users.length]. */
static bool is_beyond_end(const struct advice *a, struct piece list, struct piece index)
{
    struct match m;
    struct js_origin from;
    if (match(a->g, "^([\\w$.]+)\\.length$", index, &m) && piece_same(m.group[0], list)) {
        suggest(a->d, 28, 0.94,
                "The last position is length - 1: write %.*s[%.*s.length - 1], or %.*s.at(-1).",
                P(list), P(list), P(list));
        char last[140];
        (void)snprintf(last, sizeof last, "%.*s - 1", P(piece_cut(index, 120)));
        (void)suggest_swap(a->in, a->d, index, last);
        return true;
    }
    if (!match(a->g, "^([\\w$]+)\\s*\\+\\s*1$", index, &m))
        return false;
    if (js_declared_by(a, m.group[0], &from) && piece_is(from.by, "in")) {
        suggest(
            a->d, 28, 0.92,
            "for...in in line %u gives positions as texts, so %.*s + 1 joins two texts: count with "
            "for (let %.*s = 0; %.*s < %.*s.length - 1; %.*s++).",
            from.line, P(m.group[0]), P(m.group[0]), P(m.group[0]), P(list), P(m.group[0]));
        return true;
    }
    suggest(a->d, 28, 0.9,
            "%.*s[%.*s] is one past the end in the last round: let the loop run while %.*s < "
            "%.*s.length - 1.",
            P(list), P(index), P(m.group[0]), P(list));
    return true;
}

/* ---- the whole ---- */

bool js_explain_origin(const struct advice *a, struct piece before, struct piece property)
{
    struct match m;
    struct piece value;
    uint32_t line = 0;
    if (is_first_of_group(a, before, property) ||
        js_map_used_as_object(a, before, a->d->location.line))
        return true;
    if (!match(a->g, "([A-Za-z_$][\\w$.]*)(?:\\[([^\\[\\]]*)\\])?$", before, &m))
        return false;
    struct piece name = m.group[0], root = piece_cut(name, piece_find(name, "."));
    if (m.group[1].at && is_beyond_end(a, name, m.group[1]))
        return true;
    if (starts_with(name, "this.") && !m.group[1].at &&
        (is_never_set(a, name) || js_explain_this(a)))
        return true;
    if (piece_is(name, "this"))
        return js_explain_this(a);
    if (is_accumulator(a, name) || is_key_of_loop(a, root) ||
        (root.len < name.len && is_of_promises(a, root)))
        return true;
    if (js_assigned(a, name, &value, &line) &&
        (js_map_used_as_object(a, value, line) || js_callback_returns_nothing(a, value, line)))
        return true;
    struct piece function;
    if (taken_apart(a, root, &value, &line) && js_forgotten_await(a, value, &function)) {
        js_suggest_await(a, 28, function, line);
        return true;
    }
    return false;
}
