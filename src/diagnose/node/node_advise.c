/* What helps with errors of JavaScript. */
#include "diagnose/node/node.h"

#include <stdio.h>
#include <string.h>

#include "base/array.h"

const char *const js_globals[] = { "console",
                                   "process",
                                   "Math",
                                   "JSON",
                                   "Object",
                                   "Array",
                                   "String",
                                   "Number",
                                   "Boolean",
                                   "Promise",
                                   "Date",
                                   "RegExp",
                                   "Map",
                                   "Set",
                                   "Symbol",
                                   "Buffer",
                                   "setTimeout",
                                   "setInterval",
                                   "clearTimeout",
                                   "setImmediate",
                                   "parseInt",
                                   "parseFloat",
                                   "isNaN",
                                   "undefined",
                                   "fetch",
                                   "require",
                                   "module",
                                   "exports",
                                   "Error",
                                   "TypeError",
                                   "BigInt",
                                   "structuredClone",
                                   "queueMicrotask",
                                   "URL",
                                   NULL };

/* The last line above the location that gives the name a value. */
bool js_assigned(struct js *j, struct piece name, struct piece *ret_value, uint32_t *ret_line)
{
    struct piece rest = { j->file ? j->file->text : NULL, j->file ? j->file->len : 0 }, line;
    bool found = false;
    for (uint32_t i = 1; i < LINES_SEEN && next_line(&rest, &line); i++) {
        struct match m;
        if (i > j->d->location.line)
            break;
        if (!match(j->g,
                   "^\\s*(?:(?:export )?(?:const|let|var) )?([\\w$.]+)\\s*=\\s*([^=].*?);?\\s*$",
                   line, &m) ||
            !piece_same(m.group[0], name))
            continue;
        *ret_value = m.group[1];
        *ret_line = i;
        found = true;
    }
    return found;
}

/* Whether the code calls, without await, a function that the program declares async. */
bool js_forgotten_await(struct js *j, struct piece code, struct piece *ret_name)
{
    struct match m, call;
    if (match(j->g, "\\bawait\\b", code, &m))
        return false;
    if (match(j->g, "\\b(fetch|readFile|writeFile)\\(", code, &call) && !piece_has(code, "Sync")) {
        *ret_name = call.group[0];
        return true;
    }
    if (!match(j->g, "(?:^|[^\\w$])(?:[\\w$]+\\.)*([A-Za-z_$][\\w$]*)\\(", code, &call))
        return false;
    for (size_t k = 0; k < j->in->n_sources; k++) {
        struct piece rest = { j->in->sources[k].text, j->in->sources[k].len }, line;
        for (uint32_t i = 1; i < LINES_SEEN && next_line(&rest, &line); i++)
            if ((match(j->g, "async function\\*?\\s+([\\w$]+)", line, &m) ||
                 match(j->g, "(?:const|let|var)\\s+([\\w$]+)\\s*=\\s*async\\b", line, &m) ||
                 match(j->g, "^\\s*(?:static )?async\\s+([\\w$]+)\\s*\\(", line, &m)) &&
                piece_same(m.group[0], call.group[0])) {
                *ret_name = m.group[0];
                return true;
            }
    }
    return false;
}

void js_say_await(struct js *j, unsigned rule, struct piece name, uint32_t line)
{
    suggest(j->d, rule, 0.94,
            "%.*s() gives a promise, and it is not awaited%s: put `await` before the call (inside "
            "an async function).",
            P(name), line ? "" : " here");
    if (line && line != j->d->location.line)
        return;
    char call[160], awaited[180];
    (void)snprintf(call, sizeof call, "%.*s(", P(name));
    (void)snprintf(awaited, sizeof awaited, "await %s", call);
    (void)suggest_swap(j->in, j->d, piece_of(call), awaited);
}

/* ---- the rest ---- */

static void on_json(struct js *j)
{
    if (piece_has(j->message, "'<'") || piece_has(j->message, "token <"))
        suggest(j->d, 27, 0.93,
                "It begins with '<': that is HTML (an error page?), not JSON. "
                "console.log(text.slice(0, 100)) shows it.");
    else if (piece_has(j->message, "end of JSON"))
        suggest(j->d, 27, 0.92,
                "The text is empty, or cut off: JSON.parse needs a whole document.");
    else if (piece_has(j->message, "[object") || piece_has(j->message, "\"[object "))
        suggest(j->d, 27, 0.93, "It is an object already: JSON.parse is for text.");
    else if (piece_has(j->message, "undefined"))
        suggest(j->d, 27, 0.9, "It was given undefined: look where the text should come from.");
    else
        suggest(j->d, 27, 0.88,
                "JSON wants double quotes around names and text, no comma at the end, and no "
                "comments.");
}

static void on_stack(struct js *j)
{
    const char *name = j->d->n_frames ? j->d->frames[0].function : "";
    suggest(j->d, 24, 0.92,
            "%s%s calls itself without an end: it needs a case that returns before the next call.",
            name[0] ? name : "A function", name[0] ? "()" : "");
}

static void on_enoent(struct js *j)
{
    struct match m;
    if (match(j->g, "spawn(?:Sync)? (\\S+) ENOENT", j->message, &m)) {
        suggest(j->d, 39, 0.88,
                "There is no program '%.*s' in this jar: what the host has in /usr is there, and "
                "nothing else.",
                P(m.group[0]));
        j->d->sandbox = true;
        return;
    }
    if (!match(j->g, "'([^']+)'", j->message, &m))
        return;
    struct piece path = m.group[0], base = piece_base(path);
    struct nearest n = { .name = base };
    for (size_t i = 0; i < j->in->n_sources; i++)
        nearest_try(&n, piece_base(piece_of(j->in->sources[i].name)));
    if (n.best[0]) {
        suggest(j->d, 22, 0.92, "Beside the program there is '%s': did you mean that?", n.best);
        (void)suggest_swap(j->in, j->d, path, n.best);
    } else {
        suggest(j->d, 22, 0.85,
                "There is no '%.*s' in /sandbox, where the program starts: send it with the run "
                "(--file, \"files\" in a request), or write it first.",
                P(path));
    }
}

static const struct js_rule rules[] = {
    { "SyntaxError", "JSON", .advise = on_json },
    { "RangeError", "^Maximum call stack", .advise = on_stack },
    { "RangeError", "^Invalid array length", .confidence = 0.85,
      .text =
          "A length is a whole number from 0 to 4294967295: look at what it was calculated from." },
    { "RangeError", "^Division by zero", .rule = 15, .confidence = 0.9,
      .text = "A BigInt cannot be divided by 0n: test the divisor first." },
    { "TypeError", "^Converting circular structure", .confidence = 0.85,
      .text = "The object holds itself somewhere: leave that property out (a replacer function), "
              "or make a copy without it." },
    { "TypeError", "^Cannot mix BigInt", .rule = 11, .confidence = 0.9,
      .text = "A BigInt and a number are not calculated with together: make both BigInt(...) or "
              "both Number(...)." },
    { "TypeError", "^Cannot convert a Symbol", .rule = 11, .confidence = 0.7,
      .text = "Convert it first: String(x)." },
    { "ENOENT", "", .advise = on_enoent },
    { "EEXIST", "", .rule = 22, .confidence = 0.85,
      .text = "It is there already: mkdirSync(path, { recursive: true }) does not mind." },
    { "UnhandledPromiseRejection", "", .rule = 28, .confidence = 0.7,
      .text = "A promise was rejected and nobody caught it: put `await` into try/catch, or add "
              ".catch(); reject with an Error, so that the place is known." },
    { "thrown", "", .confidence = 0.6,
      .text = "What is thrown is no Error, so no frames are known: throw new Error(...)." },
    { NULL, "^The (\"[^\"]+\") argument must be (.+?)\\. Received", .rule = 10, .confidence = 0.8,
      .text = "The argument {1} must be {2}: look at what is passed (typeof x)." },
    { "AssertionError", "", .confidence = 0.4,
      .text = "The two sides differ: the message shows both." },
    { "heap out of memory", "", .rule = 40, .confidence = 0.8,
      .text = "It held more than its heap takes: hold less at once (streams, pieces), or allow "
              "more memory (--memory SIZE)." },
    { 0 },
};

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
    static const struct js_rule *const tables[] = { js_object_rules, js_name_rules, js_syntax_rules,
                                                    rules };
    char type[sizeof d->type], message[sizeof d->message];
    const char *t = d->type, *text = d->message;
    if (d->n_causes > 0 && strcmp(d->type, verdict_word(d->verdict)) == 0) {
        t = d->causes[0].type;
        text = d->causes[0].message;
    }
    COPY(piece_of(t), type);
    COPY(piece_of(text), message);
    struct js j = { .g = g,
                    .in = in,
                    .d = d,
                    .message = piece_of(message),
                    .line = line_at(in, d),
                    .file = find_source(in, piece_of(d->location.file)) };
    set_docs(d);
    for (size_t i = 0; i < ARRAY_LEN(tables); i++)
        for (const struct js_rule *r = tables[i]; r->pattern; r++) {
            if ((r->type && strcmp(r->type, type) != 0) || !match(g, r->pattern, j.message, &j.m))
                continue;
            if (r->advise)
                r->advise(&j);
            else
                say(d, r->rule, r->confidence, r->text, &j.m);
        }
}
