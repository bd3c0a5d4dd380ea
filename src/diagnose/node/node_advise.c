/* Rules for JavaScript that fit no other file, and the helpers that its rules share. Runs in:
 * keeper. */
#include "diagnose/node/node.h"

#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "diagnose/node_advise.words.h" /* generated */

/* The last line above the location that gives the name a value. */
bool js_assigned(const struct advice *a, struct piece name, struct piece *ret_value,
                 uint32_t *ret_line)
{
    struct piece rest = text_of_source(a->file), line;
    bool found = false;
    for (uint32_t i = 1; i < LINES_SEEN && next_line(&rest, &line); i++) {
        struct match m;
        if (i > a->d->location.line)
            break;
        if (!match(a->g,
                   "^\\s*(?:(?:export )?(?:const|let|var) )?([\\w$.]+)\\s*=\\s*([^=].*?);?\\s*$",
                   line, &m) ||
            !piece_same(m.group[0], name))
            continue;
        *ret_value = piece_cut(m.group[1], piece_find(m.group[1], "; "));
        *ret_line = i;
        found = true;
    }
    return found;
}

/* Whether the code calls, without await, a function that the program declares async. */
bool js_forgotten_await(const struct advice *a, struct piece code, struct piece *ret_name)
{
    struct match m, call;
    if (match(a->g, "\\bawait\\b", code, &m))
        return false;
    if (match(a->g, "\\b(fetch|readFile|writeFile)\\(", code, &call) && !piece_has(code, "Sync")) {
        *ret_name = call.group[0];
        return true;
    }
    if (match(a->g, "(?:^|[^\\w$])(Promise\\.(?:all|allSettled|race|any|resolve))\\(", code,
              &call)) {
        *ret_name = call.group[0];
        return true;
    }
    if (!match(a->g, "(?:^|[^\\w$])(?:[\\w$]+\\.)*([A-Za-z_$][\\w$]*)\\(", code, &call))
        return false;
    for (size_t k = 0; k < a->in->n_sources; k++) {
        struct piece rest = text_of_source(&a->in->sources[k]), line;
        for (uint32_t i = 1; i < LINES_SEEN && next_line(&rest, &line); i++)
            if ((match(a->g, "async function\\*?\\s+([\\w$]+)", line, &m) ||
                 match(a->g, "(?:const|let|var)\\s+([\\w$]+)\\s*=\\s*async\\b", line, &m) ||
                 match(a->g, "^\\s*(?:static )?async\\s+([\\w$]+)\\s*\\(", line, &m)) &&
                piece_same(m.group[0], call.group[0])) {
                *ret_name = m.group[0];
                return true;
            }
    }
    return false;
}

uint32_t js_function(const struct advice *a, struct piece name, const struct source_file **ret_file)
{
    struct match m;
    for (size_t k = 0; k < a->in->n_sources; k++) {
        struct piece rest = text_of_source(&a->in->sources[k]), line;
        for (uint32_t i = 1; i < LINES_SEEN && next_line(&rest, &line); i++)
            if ((match(a->g, "\\bfunction\\s+([\\w$]+)", line, &m) ||
                 match(a->g, "\\b(?:const|let|var)\\s+([\\w$]+)\\s*=\\s*(?:\\(.*\\)|[\\w$]+)\\s*=>",
                       line, &m) ||
                 match(a->g, "\\b(?:const|let|var)\\s+([\\w$]+)\\s*=\\s*function\\b", line, &m)) &&
                piece_same(m.group[0], name)) {
                *ret_file = &a->in->sources[k];
                return i;
            }
    }
    return 0;
}

bool js_returns(const struct advice *a, const struct source_file *f, uint32_t number,
                uint32_t *ret_alone)
{
    enum { LINES_BODY = 200 };
    struct piece rest = text_of_source(f), line;
    struct match m;
    long depth = 0;
    bool begun = false, alone = false;
    for (uint32_t i = 1; i < number + LINES_BODY && next_line(&rest, &line); i++) {
        if (i < number)
            continue;
        if (i == number && match(a->g, "=>\\s*[^{\\s]", line, &m))
            return true; /* an arrow function without { } */
        if (alone && match(a->g, "^\\s*[^\\s}/]", line, &m))
            *ret_alone = i - 1;
        if (match(a->g, "\\b(?:return|yield)\\b\\s*[^\\s;}]", line, &m))
            return true;
        alone = match(a->g, "\\breturn\\s*$", line, &m);
        for (size_t at = 0; at < line.len; at++) {
            char c = piece_byte(line, at);
            depth += c == '{' ? 1 : c == '}' ? -1 : 0;
            begun = begun || c == '{';
        }
        if (begun && depth <= 0)
            return false;
    }
    return true; /* its end was not found */
}

void js_suggest_await(const struct advice *a, unsigned number, struct piece name, uint32_t line)
{
    suggest(a->d, number, 0.94,
            "%.*s() returns a promise, which is not awaited%s: put `await` before the call (inside "
            "an async function).",
            P(name), line ? "" : " here");
    if ((line && line != a->d->location.line) || piece_has(a->line, "function "))
        return;
    char call[160], awaited[180];
    (void)snprintf(call, sizeof call, "%.*s(", P(name));
    (void)snprintf(awaited, sizeof awaited, "await %s", call);
    (void)suggest_swap(a->in, a->d, piece_of(call), awaited);
}

/* ---- the rest ---- */

static void on_json(const struct advice *a)
{
    if (piece_has(a->message, "'<'") || piece_has(a->message, "token <"))
        suggest(a->d, 27, 0.93,
                "The text begins with '<', so it is HTML (an error page?) and not JSON: "
                "console.log(text.slice(0, 100)) shows it.");
    else if (piece_has(a->message, "end of JSON"))
        suggest(a->d, 27, 0.92, "The text is empty, or cut off: give JSON.parse a whole document.");
    else if (piece_has(a->message, "[object") || piece_has(a->message, "\"[object "))
        suggest(a->d, 27, 0.93,
                "The value is an object already: use it without JSON.parse, which reads text.");
    else if (piece_has(a->message, "undefined"))
        suggest(a->d, 27, 0.9, "The argument is undefined: check where the text should come from.");
    else
        suggest(a->d, 27, 0.88,
                "JSON needs double quotes around names and text, no comma at the end, and no "
                "comments.");
}

static void on_stack(const struct advice *a)
{
    const char *name = a->d->n_frames ? a->d->frames[0].function : "";
    suggest(a->d, 24, 0.92,
            "%s%s calls itself without an end: add a case that returns without another call.",
            name[0] ? name : "A function", name[0] ? "()" : "");
}

static void on_enoent(const struct advice *a)
{
    struct match m;
    if (match(a->g, "spawn(?:Sync)? (\\S+) ENOENT", a->message, &m)) {
        suggest(a->d, 39, 0.88,
                "There is no program '%.*s' in this jar, which has only the programs in the host's "
                "/usr: install it on the host.",
                P(m.group[0]));
        a->d->sandbox = true;
        return;
    }
    if (!match(a->g, "'([^']+)'", a->message, &m))
        return;
    struct piece path = m.group[0], base = piece_base(path);
    struct match deep;
    if (match(a->g, "(?:write|append|copy|createWriteStream|mkdir|rename)", a->line, &deep) &&
        match(a->g, "^(.+)/[^/]+$", path, &deep) && !starts_with(path, "/")) {
        suggest(
            a->d, 22, 0.9,
            "The directory '%.*s' is not there: make it first, fs.mkdirSync('%.*s', { recursive: "
            "true }).",
            P(deep.group[0]), P(deep.group[0]));
        return;
    }
    struct similar n = { .name = base };
    for (size_t i = 0; i < a->in->n_sources; i++)
        similar_try(&n, piece_base(piece_of(a->in->sources[i].name)));
    if (n.best[0]) {
        suggest(a->d, 22, 0.92, "Did you mean '%s'? That file is beside the program.", n.best);
        (void)suggest_swap(a->in, a->d, path, n.best);
    } else {
        suggest(a->d, 22, 0.85,
                "There is no '%.*s' in /sandbox, where the program starts: send the file with the "
                "run (--file, \"files\" in a request), or write it first.",
                P(path));
    }
}

#include "diagnose/node_advise.rules.h" /* generated */

static void set_docs(struct diagnosis *d)
{
    static const char *const mdn[] = { "TypeError", "ReferenceError", "SyntaxError", "RangeError",
                                       "URIError",  "AggregateError", "Error",       NULL };
    if (piece_among(piece_of(d->type), mdn))
        (void)snprintf(
            d->docs, sizeof d->docs,
            "https://developer.mozilla.org/en-US/docs/Web/JavaScript/Reference/Global_Objects/%s",
            d->type);
    else if (strncmp(d->type, "ERR_", 4) == 0 || strcmp(d->type, "MODULE_NOT_FOUND") == 0) {
        (void)snprintf(d->docs, sizeof d->docs, "https://nodejs.org/api/errors.html#%s", d->type);
        for (char *c = d->docs; *c; c++)
            if (*c >= 'A' && *c <= 'Z')
                *c = (char)(*c | 32);
    } else if (strcmp(d->type, "AssertionError") == 0)
        (void)snprintf(d->docs, sizeof d->docs,
                       "https://nodejs.org/api/assert.html#class-assertassertionerror");
    else if (d->type[0] == 'E' && d->type[1] >= 'A' && d->type[1] <= 'Z')
        (void)snprintf(d->docs, sizeof d->docs,
                       "https://nodejs.org/api/errors.html#common-system-errors");
}

void node_advise(struct diagnoser *g, const struct diagnose_input *in, struct diagnosis *d)
{
    static const struct rule *const tables[] = { js_object_rules, js_name_rules, js_syntax_rules,
                                                 rules };
    struct advice a;
    advice_begin(&a, g, in, d);
    advice_use_own_error(&a);
    set_docs(d);
    for (size_t i = 0; i < ARRAY_LEN(tables); i++)
        rules_apply(&a, tables[i], EVERY_RULE);
}
