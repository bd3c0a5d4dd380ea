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

bool js_is_async(const struct advice *a, struct piece name, bool generator)
{
    struct match m;
    for (size_t k = 0; name.at && k < a->in->n_sources; k++) {
        struct piece rest = text_of_source(&a->in->sources[k]), line;
        for (uint32_t i = 1; i < LINES_SEEN && next_line(&rest, &line); i++) {
            if (!piece_has(line, "async"))
                continue;
            if ((match(a->g, "\\basync\\s+function\\s*(\\*?)\\s*([\\w$]+)", line, &m) ||
                 match(a->g, "^\\s*(?:static )?async\\s*(\\*?)\\s*(#?[\\w$]+)\\s*\\(", line, &m)) &&
                piece_same(m.group[1], name))
                return (m.group[0].len > 0) == generator;
            if (!generator &&
                match(a->g,
                      "(?:\\b(?:const|let|var)\\s+|^\\s+)([\\w$]+)\\s*[:=]\\s*async\\b(?!\\s*"
                      "function\\s*\\*)",
                      line, &m) &&
                piece_same(m.group[0], name))
                return true;
        }
    }
    return false;
}

bool js_async_generator(const struct advice *a, struct piece code, struct piece *ret_name)
{
    struct match m;
    if (!match(a->g, "(?:^|[^\\w$])(?:[\\w$]+\\.)*([A-Za-z_$][\\w$]*)\\(", code, &m))
        return false;
    *ret_name = m.group[0];
    return js_is_async(a, m.group[0], true);
}

void js_suggest_for_await(const struct advice *a, struct piece name)
{
    struct match m;
    if (piece_has(a->line, "...")) {
        suggest(a->d, 26, 0.94,
                "%.*s() is an async generator, which `...` cannot read: collect its values in a "
                "loop, for await "
                "(const x of %.*s(...)) list.push(x).",
                P(name), P(name));
        return;
    }
    suggest(
        a->d, 26, 0.95,
        "%.*s() is an async generator: loop over it with `for await (... of ...)`, inside an async "
        "function.",
        P(name));
    if (match(a->g, "^(\\s*(?:\\}\\s*)?for)\\s*(\\(.*)$", a->line, &m))
        suggest_replacement(a->d, "%.*s await %.*s", P(m.group[0]), P(m.group[1]));
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
    *ret_name = call.group[0];
    return js_is_async(a, call.group[0], false);
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
    struct match m;
    char call[160];
    (void)snprintf(call, sizeof call, "%.*s(", P(piece_cut(name, 150)));
    size_t at = piece_find(a->line, call), end = at + strlen(call);
    long depth = 1;
    while (at > 0 &&
           (is_word_byte(piece_byte(a->line, at - 1)) ||
            (piece_byte(a->line, at - 1) == '.' && is_word_byte(piece_byte(a->line, at - 2)))))
        at--; /* the object before the name */
    for (; end < a->line.len && depth > 0; end++)
        depth += piece_byte(a->line, end) == '(' ? 1 : piece_byte(a->line, end) == ')' ? -1 : 0;
    struct piece before = piece_cut(a->line, at), whole = piece_part(a->line, at, end - at);
    if (end > a->line.len || depth > 0)
        return;
    bool used = match(a->g, "^\\s*(?:\\?\\.|\\.|\\[)", piece_skip(a->line, end), &m);
    suggest_replacement(a->d, used ? "%.*s(await %.*s)%.*s" : "%.*sawait %.*s%.*s", P(before),
                        P(whole), P(piece_skip(a->line, end)));
}

/* ---- the rest ---- */

/* The character at which a JSON text of several lines cannot be read: Node prints the line and a caret. */
static char json_mark(const struct advice *a)
{
    struct piece rest = text_of(a->in), line, above = NO_PIECE;
    struct match m;
    for (unsigned n = 0; n < 8 && next_line(&rest, &line); n++) {
        if (above.at && match(a->g, "^(\\s*)\\^", line, &m))
            return piece_byte(above, m.group[0].len);
        above = line;
    }
    return '\0';
}

/* The fault of a text that is no JSON; NULL when it is not known. */
static const char *json_fault(const struct advice *a)
{
    struct match m;
    char at = json_mark(a);
    bool after_comma = piece_has(a->message, "Expected double-quoted property name");
    if (match(a->g, "^Unexpected token '([^']|\\\\u0027)', ?(?:\\.\\.\\.)?\"(.*)\"", a->message,
              &m))
        at = piece_byte(m.group[0], 0);
    if (piece_has(a->message, "after JSON") || piece_has(a->message, "after array element"))
        return piece_has(a->message, "after JSON")
                   ? "The text has more behind the first JSON value: parse each line by itself, or "
                     "put the values in [ ] "
                     "with commas"
                   : "A comma is missing between two values of a list in the text";
    if (piece_has(a->message, "after property value"))
        return "A comma is missing between two entries of the text";
    if ((at == '}' || at == ']') && (after_comma || match(a->g, ",\\s*[\\]}]", a->message, &m)))
        return "The text has a comma after its last entry, and JSON allows no trailing comma: "
               "remove that comma";
    if (after_comma && at == '\0' &&
        match_text(a->g, ",\\s*\\}['`\"]|,\\s*$", text_of_source(a->file), &m) &&
        match_text(a->g, "[{,]\\s*\"\\w+\"\\s*:.*,\\s*\\}", text_of_source(a->file), &m))
        return "The text has a comma after its last entry, and JSON allows no trailing comma: "
               "remove that comma";
    if (at == '/')
        return "The text has a comment, and JSON allows none: remove it";
    if (at == '\'' || match_text(a->g, "[\"`]\\s*[{\\[]\\s*'", text_of_source(a->file), &m))
        return "The text has single quotes, and JSON needs double quotes around names and texts: "
               "'{\"name\": \"x\"}'";
    if (match(a->g, "[A-Za-z_]", piece_in(&at, 1), &m) ||
        match_text(a->g, "['`]\\s*\\{\\s*\\w+\\s*:", text_of_source(a->file), &m))
        return "A name in the text has no quotes, and JSON needs double quotes around each name: "
               "{\"name\": 1}";
    return NULL;
}

static void on_json(const struct advice *a)
{
    const char *fault = NULL;
    if (piece_has(a->message, "'<'") || piece_has(a->message, "token <"))
        suggest(a->d, 27, 0.93,
                "The text begins with '<', so it is HTML (an error page?) and not JSON: "
                "console.log(text.slice(0, 100)) shows it.");
    else if (piece_has(a->message, "end of JSON"))
        suggest(a->d, 27, 0.92, "The text is empty, or cut off: give JSON.parse a whole document.");
    else if (piece_has(a->message, "[object Promise]"))
        suggest(a->d, 26, 0.94,
                "JSON.parse got a promise, which is not awaited: put `await` before the call that "
                "reads "
                "the text.");
    else if (piece_has(a->message, "[object"))
        suggest(a->d, 27, 0.93,
                "The value is an object already: use it without JSON.parse, which reads text.");
    else if (piece_has(a->message, "\"undefined\""))
        suggest(a->d, 27, 0.9,
                "The argument of JSON.parse is undefined: check where the text should come from, "
                "and test it first.");
    else if ((fault = json_fault(a)))
        suggest(a->d, 27, 0.93, "%s.", fault);
    else
        suggest(a->d, 27, 0.85,
                "JSON needs double quotes around names and text, no comma at the end, and no "
                "comments.");
}

static void on_stack(const struct advice *a)
{
    const char *name = a->d->n_frames ? a->d->frames[0].function : "";
    struct match m;
    if (match(a->g, "\\bset\\s+([\\w$]+)\\s*\\(", a->line, &m) ||
        match(a->g, "^set (\\w+)", piece_of(name), &m) ||
        match(a->g, "\\bget\\s+([\\w$]+)\\s*\\(", a->line, &m) ||
        match(a->g, "^get (\\w+)", piece_of(name), &m)) {
        suggest(a->d, 24, 0.94,
                "The accessor '%.*s' uses this.%.*s, which calls it again: keep the value under "
                "another name, "
                "this._%.*s or #%.*s.",
                P(m.group[0]), P(m.group[0]), P(m.group[0]), P(m.group[0]));
        return;
    }
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

/* An error that the program throws itself: the condition above says when. */
static void on_own_throw(const struct advice *a)
{
    struct match m, c;
    if (a->d->n_suggestions > 0 || a->d->location.line == 0 ||
        !match(a->g, "\\bthrow\\s+|new\\s+\\w*Error\\(|\\breject\\(", a->line, &m))
        return;
    if (match_text(a->g, "Unhandled 'error' event", text_of(a->in), &c)) {
        suggest(a->d, 28, 0.93,
                "An \"error\" event has no listener, so it ends the program: add one, "
                "emitter.on(\"error\", (error) => "
                "{ ... }), before emit().");
        return;
    }
    struct piece above = source_line(a->file, a->d->location.line - 1);
    const char *how = piece_has(text_of_source(a->file), "async ")
                          ? "try and catch around the `await`, or .catch()"
                          : "try { ... } catch (error) { ... }";
    if (match(a->g, "\\bif\\s*\\((.*)\\)\\s*(?:\\{\\s*)?throw\\b", a->line, &c) ||
        match(a->g, "\\bif\\s*\\((.*)\\)\\s*\\{?\\s*$", above, &c))
        suggest(a->d, 0, 0.85,
                "The program throws this error itself, because `%.*s` is true: give the function a "
                "value for which "
                "it is false, or handle the error with %s.",
                P(piece_cut(c.group[0], 100)), how);
    else
        suggest(a->d, 0, 0.8,
                "The program throws this error itself in line %u: handle it where the function is "
                "called, with %s.",
                a->d->location.line, how);
}

/* The line that begins with a '(': the next one, or the first of the lines of which this is the last. 0 when there
 * is none. */
static uint32_t line_of_round(const struct advice *a)
{
    struct match m;
    uint32_t here = a->d->location.line;
    if (match(a->g, "^\\s*\\(", source_line(a->file, here + 1), &m))
        return here + 1;
    bool closes = match(a->g, "^\\s*\\}\\s*\\)", a->line, &m);
    for (uint32_t i = here; closes && i-- > 1 && here - i < LINES_NEAR;) {
        struct piece line = source_line(a->file, i);
        if (piece_trim(line).len > 0 && indent_of(line) <= indent_of(a->line))
            return match(a->g, "^\\s*\\(", line, &m) ? i : 0;
    }
    return 0;
}

/* A line that begins with a bracket goes on with the statement above it, when that has no `;`. */
static bool continues_line_above(const struct advice *a)
{
    struct match m;
    uint32_t above = a->d->location.line;
    if (!match(
            a->g,
            "^Cannot (?:access|read|set|destructure)\\b|is not a function|is not iterable|is not a "
            "constructor",
            a->message, &m))
        return false;
    struct piece here = a->line, before;
    if (!match(a->g, "^\\s*[\\[(]", here, &m)) { /* a call is reported where it begins */
        if (!piece_has(a->message, "is not a function"))
            return false;
        above = line_of_round(a);
        here = source_line(a->file, above);
        if (!above)
            return false;
    }
    do
        before = source_line(a->file, --above);
    while (above > 1 && piece_trim(before).len == 0);
    if (!match(a->g, "[\\w$)\\]'\"`]\\s*$", before, &m) || piece_has(before, "//") ||
        match(a->g, "^\\s*(?:if|else|for|while|do|return|case|\\*|/\\*|\\}\\s*(?:else|while))\\b",
              before, &m) ||
        indent_of(here) != indent_of(before))
        return false;
    suggest(a->d, 18, 0.95,
            "Line %u has no `;` at its end, and the next line begins with a bracket, so JavaScript "
            "reads both as one statement: write `;` at the end of line %u.",
            above, above);
    if (a->line.at == here.at)
        suggest_replacement(a->d, "%.*s;%.*s", P(piece_cut(here, indent_of(here))),
                            P(piece_trim(here)));
    else
        suggest_replacement(a->d, "%.*s;", P(piece_trim_end(before)));
    return true;
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
    static const struct rule *const tables[] = { js_object_rules, js_value_rules, js_name_rules,
                                                 js_syntax_rules, rules };
    struct advice a;
    advice_begin(&a, g, in, d);
    advice_use_own_error(&a);
    set_docs(d);
    if (continues_line_above(&a))
        return;
    for (size_t i = 0; i < ARRAY_LEN(tables); i++)
        rules_apply(&a, tables[i], EVERY_RULE);
    rules_apply(&a, js_api_rules, FIRST_RULE);
    on_own_throw(&a);
}
