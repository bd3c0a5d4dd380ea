/* Rules for JavaScript: undefined values, values that are not functions, constants. Runs in:
 * keeper. */
#include "diagnose/node/node.h"

#include <stdio.h>
#include <string.h>

#include "base/array.h"
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
    size_t column = a->d->location.column;
    if (column > 1 && piece_at(a->line, column - 1) == '.')
        return piece_before(a->line, column - 1);
    (void)snprintf(dotted, sizeof dotted, ".%.*s", P(piece_cut(property, 120)));
    size_t at = piece_find(a->line, dotted);
    return at < a->line.len ? piece_cut(a->line, at) : piece_before(a->line, a->d->location.column);
}

static bool explain_own_function(const struct advice *a, struct piece code, const char *name,
                                 uint32_t line);

/* `for (let i = 0; i <= items.length; i++)` above the line. */
static bool loop_goes_too_far(const struct advice *a, struct piece items)
{
    struct match m;
    uint32_t loop = line_above_with(a, "\\bfor\\s*\\(.*<=\\s*([\\w$.]+)\\.length\\s*;", &m);
    if (!loop || !piece_same(m.group[0], items))
        return false;
    suggest(a->d, 28, 0.94,
            "Line %u counts to %.*s.length itself, and the last position is one less: write `<` in "
            "place of `<=`.",
            loop, P(items));
    return true;
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
    struct match item;
    if (whole && match(a->g, "^([\\w$.]+)\\[([^\\[\\]]+)\\]$", value, &item)) {
        if (!loop_goes_too_far(a, item.group[0]))
            suggest(a->d, 28, 0.88,
                    "'%s' gets its value in line %u, and %.*s has no position or key %.*s: test it "
                    "first, or check the index.",
                    shown, line, P(item.group[0]), P(item.group[1]));
        return true;
    }
    return whole && (explain_undefined_call(a, value, shown, line) ||
                     explain_own_function(a, value, shown, line));
}

/* Explains why the expression before the property has no value. */
static bool blame_line(const struct advice *a, struct piece before, struct piece property)
{
    struct piece function;
    if (js_forgotten_await(a, before, &function)) {
        js_suggest_await(a, 28, function, a->d->location.line);
        return true;
    }
    if (explain_own_function(a, before, NULL, 0))
        return true;
    if (!explain_undefined_call(a, before, NULL, 0))
        return false;
    offer_optional(a, property);
    return true;
}

/* Promise.allSettled() gives objects with the value inside. */
static bool is_settled(const struct advice *a, struct piece before)
{
    struct match m;
    struct js_origin from;
    struct piece value, list = NO_PIECE;
    uint32_t line = 0;
    if (!match(a->g, "([A-Za-z_$][\\w$]*)(?:\\[\\w+\\])?(?:\\.([\\w$]+))?$", before, &m) ||
        piece_is(m.group[1], "value") || piece_is(m.group[1], "reason"))
        return false;
    struct piece name = m.group[0], inner = m.group[1];
    if (js_declared_by(a, name, &from))
        list = from.from;
    if (!js_assigned(a, list.at ? list : name, &value, &line) || !piece_has(value, "allSettled("))
        return false;
    suggest(a->d, 28, 0.94,
            "Promise.allSettled() in line %u gives objects with `status`, and `value` or `reason`: "
            "the result is in `value`, %.*s.value%s%.*s, when `status` is \"fulfilled\". "
            "Promise.all() gives the results themselves.",
            line, P(name), inner.at ? "." : "", P(inner));
    return true;
}

static void on_undefined(const struct advice *a)
{
    struct piece what = a->m.group[0], property = a->m.group[1];
    struct piece before = before_property(a, property), name = NO_PIECE;
    struct match m;
    if (is_settled(a, before) || js_explain_origin(a, before, property))
        return;
    bool named = before.len > 0 &&
                 match(a->g, "([A-Za-z_$][\\w$.]*)(\\[[^\\[\\]]*\\])?$", before, &m);
    if (named && m.group[1].at) {
        if (loop_goes_too_far(a, m.group[0]))
            return;
        suggest(
            a->d, 28, 0.85,
            "%.*s%.*s is %.*s: that position or key does not exist. Check it, or test the value "
            "first.",
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
    if (piece_is(name, "this"))
        suggest(a->d, 28, 0.8,
                "'this' is not the object here, because a function that is passed as a value loses "
                "it: use an arrow function, or bind(this).");
    else if (match(a->g, "^\\s*(?:const|let|var)\\s*\\{.*\\{", a->line, &m))
        suggest(a->d, 28, 0.9,
                "A part that is taken apart here is %.*s: give it a default, such as `{ data: { "
                "items } "
                "= {} }`, or take it apart in two steps.",
                P(what));
    else if (name.at)
        suggest(a->d, 28, 0.85,
                "'%.*s' is %.*s here: give it a value before, or read it with `?.`, which returns "
                "undefined instead of failing.",
                P(name), P(what));
    else
        suggest(a->d, 28, 0.8, "The value before it is %.*s: test it first, or read it with `?.`.",
                P(what));
    if (!piece_is(name, "this"))
        offer_optional(a, property);
}

/* The value of `const { a, b } = value` in this line, or the parameter of a function. */
static bool explain_taken_apart(const struct advice *a)
{
    struct match m, f;
    struct piece value = NO_PIECE;
    uint32_t line = 0;
    if (match(a->g, "[}\\]]\\s*=\\s*([^=>].*?);?\\s*$", a->line, &m)) {
        if (js_map_used_as_object(a, m.group[0], a->d->location.line) ||
            explain_own_function(a, m.group[0], NULL, 0) ||
            explain_undefined_call(a, m.group[0], NULL, 0))
            return true;
        value = m.group[0];
    }
    if (value.at && match(a->g, "^[\\w$.]+$", value, &f) && js_assigned(a, value, &value, &line) &&
        line != a->d->location.line) {
        char name[96];
        COPY(m.group[0], name);
        if (js_map_used_as_object(a, value, line) || js_callback_returns_nothing(a, value, line) ||
            explain_undefined_call(a, value, name, line) ||
            explain_own_function(a, value, name, line))
            return true;
    }
    if (value.at || !match(a->g,
                           "\\bfunction\\s+([\\w$]+)\\s*\\(\\s*\\{|([\\w$]+)\\s*(?:=\\s*(?:"
                           "async\\s*)?)?\\(\\s*\\{",
                           a->line, &f))
        return false;
    struct piece name = f.group[0].at ? f.group[0] : f.group[1];
    suggest(a->d, 28, 0.9,
            "%.*s() takes an object apart, and a call gives it none: pass one, %.*s({ ... }), or "
            "give the "
            "parameter a default, `{ ... } = {}`.",
            P(name), P(name));
    return true;
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
    if (explain_taken_apart(a))
        return;
    suggest(a->d, 28, 0.85,
            "The destructured value is undefined or null: give a default (`const { a } = x ?? {}`, "
            "or `= {}` for a parameter).");
}

/* ---- functions ---- */

static bool no_array(const struct advice *a, struct piece owner, struct piece value, uint32_t line)
{
    uint32_t made = 0;
    struct piece kind = js_collection(a, owner, &made);
    if (!kind.at && ends_with(owner, "searchParams"))
        kind = piece_of("URLSearchParams");
    if (kind.at && !piece_is(kind, "Date") && !piece_is(kind, "URL")) {
        bool set = piece_is(kind, "Set");
        suggest(a->d, 32, 0.92, "'%.*s' is a %.*s and not an array: [...%.*s] makes one%s.",
                P(owner), P(kind), P(owner),
                set ? "" : " of [key, value] pairs, [...x.values()] one of its values");
        return true;
    }
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
    bool sum = match(a->g, "\\(?\\b(\\w+), ?(\\w+)\\)? => \\1 ?\\+ ?\\2\\b(?! ?[-*/%.\\[])",
                     a->line, &m),
         product = match(a->g, "\\(?\\b(\\w+), ?(\\w+)\\)? => \\1 ?\\* ?\\2\\b", a->line, &m);
    suggest(a->d, 28, 0.94,
            "The array is empty, and reduce() has no first value: give it one as the second "
            "argument, %s.",
            product ? "1 for a product"
            : sum   ? "0 for a sum, \"\" for texts"
                    : "0 for a sum, 1 for a product, \"\" for texts");
    if ((sum || product) &&
        match(a->g, "^(.*\\.reduce\\(\\(?\\w+, ?\\w+\\)? => [^,{}()]+)(\\).*)$", a->line, &m))
        suggest_replacement(a->d, "%.*s, %s%.*s", P(m.group[0]), product ? "1" : "0",
                            P(m.group[1]));
}

/* The kind of a value that is written out; "" when it is not known. */
const char *js_kind_of(const struct advice *a, struct piece value)
{
    static const struct {
        const char *pattern, *kind;
    } rows[] = {
        { "^new Map\\b", "Map" },
        { "^new Date\\b", "Date" },
        { "^new Set\\b", "Set" },
        { "^(?:\\[.*\\]|\\[|Array\\b.*\\)|new "
          "Array\\(.*\\)|Object\\.(?:keys|values|entries)\\(.*\\))$",
          "array" },
        { "\\.(?:map|filter|slice|split|concat)\\((?:[^()]|\\([^()]*\\))*\\)$", "array" },
        { "^\\{", "object" },
        { "^(?:\"[^\"]*\"|'[^']*'|`[^`]*`)$", "text" },
        { "^-?[\\d.]+$", "number" },
    };
    struct match m;
    for (size_t i = 0; value.at && i < ARRAY_LEN(rows); i++)
        if (match(a->g, rows[i].pattern, value, &m))
            return rows[i].kind;
    return "";
}

static bool is_habit(const struct advice *a, struct piece name, struct piece value)
{
    const char *kind = js_kind_of(a, value);
    for (size_t i = 0; i < ARRAY_LEN(habits); i++)
        if (piece_is(name, habits[i].name) &&
            (strcmp(habits[i].kind, "any") == 0 || strcmp(habits[i].kind, kind) == 0)) {
            suggest(a->d, 32, 0.92, "%s.", habits[i].advice);
            return true;
        }
    return false;
}

/* console.write(), fs.readFileSync() of the promises. */
static bool is_known_object(const struct advice *a, struct piece owner, struct piece name)
{
    if (piece_is(owner, "console") && (piece_is(name, "write") || piece_is(name, "print"))) {
        suggest(a->d, 32, 0.93,
                "console has log(), which ends the line: process.stdout.write(text) writes without "
                "an end of line.");
        return true;
    }
    if (ends_with(name, "Sync") && (piece_has(text_of_source(a->file), "fs/promises") ||
                                    piece_has(text_of_source(a->file), ".promises"))) {
        suggest(
            a->d, 32, 0.93,
            "fs/promises has no functions with Sync in their names: write `await %.*s.%.*s(...)`.",
            P(owner), P(piece_cut(name, name.len - 4)));
        return true;
    }
    return false;
}

/* Whether the class of the program has the member in that form: "static name(", "get name(". */
static uint32_t line_of_member(const struct advice *a, struct piece class, const char *word,
                               struct piece name)
{
    struct piece rest = text_of_source(a->file), line;
    struct match m;
    bool inside = false;
    for (uint32_t i = 1; i < LINES_SEEN && next_line(&rest, &line); i++) {
        if (match(a->g, "\\bclass\\s+([\\w$]+)", line, &m))
            inside = piece_same(m.group[0], class);
        if (inside &&
            match(a->g, "(?:^|[{};])\\s*(static |get |async )?\\s*([\\w$]+)\\s*\\(.*\\)\\s*\\{",
                  line, &m) &&
            piece_same(m.group[1], name) &&
            (m.group[0].at ? piece_is(piece_trim(m.group[0]), word) : word[0] == '\0'))
            return i;
    }
    return 0;
}

/* A static function of a class that is called on an object, and the other way round. */
static bool is_of_class(const struct advice *a, struct piece class, struct piece name)
{
    uint32_t fixed = line_of_member(a, class, "static", name);
    uint32_t own = line_of_member(a, class, "", name),
             getter = line_of_member(a, class, "get", name);
    if (fixed)
        suggest(a->d, 32, 0.93, "%.*s() is static (line %u): call it on the class, %.*s.%.*s(...).",
                P(name), fixed, P(class), P(name));
    else if (getter)
        suggest(a->d, 32, 0.93, "'%.*s' is a getter (line %u): it is read without brackets.",
                P(name), getter);
    else if (own)
        suggest(a->d, 32, 0.93,
                "%.*s() belongs to the objects of %.*s (line %u): make one first, new "
                "%.*s(...).%.*s(...).",
                P(name), P(class), own, P(class), P(name));
    return fixed || getter || own;
}

static void on_intermediate(const struct advice *a)
{
    struct match m;
    struct piece name = a->m.group[0];
    if (match(a->g, "new\\s+([\\w$]+)\\([^()]*\\)\\.", a->line, &m) &&
        is_of_class(a, m.group[0], name))
        return;
    if (piece_has(a->line, "super.")) {
        suggest(a->d, 32, 0.9,
                "The class behind `extends` has no method '%.*s': check its name there.", P(name));
        return;
    }
    suggest(a->d, 32, 0.7,
            "The value before .%.*s(...) has no function of that name: console.log() shows the "
            "value.",
            P(name));
}

/* await f().map() waits for the whole. */
static bool awaited_too_late(const struct advice *a, struct piece function, struct piece name)
{
    struct match m;
    if (!js_is_async(a, function, false) && !piece_is(function, "fetch"))
        return false;
    suggest(a->d, 26, 0.94,
            "`await` waits for the whole %.*s().%.*s(...): put brackets around the call that is "
            "awaited, (await "
            "%.*s(...)).%.*s(...).",
            P(function), P(name), P(function), P(name));
    if (match(a->g, "^(.*)\\bawait ([\\w$.]+\\((?:[^()]|\\([^()]*\\))*\\))(\\..*)$", a->line, &m))
        suggest_replacement(a->d, "%.*s(await %.*s)%.*s", P(m.group[0]), P(m.group[1]),
                            P(m.group[2]));
    return true;
}

/* Functions that return a Buffer unless the encoding is given. */
static bool is_buffer_call(const struct advice *a, struct piece function, struct piece name)
{
    static const char *const calls[] = { "readFileSync", "execSync", "execFileSync", "spawnSync",
                                         NULL };
    struct match m;
    if (!piece_among(function, calls) || !piece_among(name, text_methods))
        return false;
    bool reads = piece_is(function, "readFileSync");
    suggest(a->d, 32, 0.94,
            "%.*s() returns a Buffer without an encoding: give it one, %s, or add .toString().",
            P(function), reads ? "readFileSync(path, \"utf8\")" : "{ encoding: \"utf8\" }");
    if (reads && match(a->g, "^(.*readFileSync\\([^(),]+)(\\).*)$", a->line, &m))
        suggest_replacement(a->d, "%.*s, \"utf8\"%.*s", P(m.group[0]), P(m.group[1]));
    return true;
}

/* f().map() */
static void on_result(const struct advice *a)
{
    struct piece function = piece_last_part(a->m.group[0]), name = a->m.group[1], awaited;
    if (js_forgotten_await(a, a->line, &awaited)) {
        suggest(a->d, 32, 0.94,
                "%.*s() returns a promise, which is not awaited: write (await %.*s(...)).%.*s(...) "
                "inside an async function.",
                P(awaited), P(awaited), P(name));
        return;
    }
    char call[140];
    (void)snprintf(call, sizeof call, ".%.*s(", P(piece_cut(function, 100)));
    const char *text = text_for(no_arrays, piece_of(call));
    if (text) {
        suggest(a->d, 32, 0.92, "%c%s.", text[0], text + 1);
        return;
    }
    if (awaited_too_late(a, function, name) || is_buffer_call(a, function, name))
        return;
    suggest(a->d, 32, 0.8,
            "The result of %.*s() has no function '%.*s': console.log() shows the result.",
            P(function), P(name));
}

/* A value of the program's own that is not defined in the call: f() without return. */
static bool explain_own_function(const struct advice *a, struct piece code, const char *name,
                                 uint32_t line)
{
    struct match m;
    const struct source_file *f;
    uint32_t alone = 0;
    if (match(a->g, "\\bawait\\b|\\bnew\\b", code, &m) ||
        !match(a->g,
               "(?:^|[^\\w$.])([A-Za-z_$][\\w$]*)\\((?:[^()]|\\((?:[^()]|\\([^()]*\\))*\\))*\\)\\s*"
               ";?$",
               piece_trim(code), &m))
        return false;
    uint32_t number = js_function(a, m.group[0], &f);
    if (!number || js_returns(a, f, number, &alone))
        return false;
    if (alone)
        suggest(a->d, 28, 0.94,
                "The `return` in line %u stands alone, and JavaScript ends the statement there, so "
                "%.*s() returns undefined: begin the value in the same line.",
                alone, P(m.group[0]));
    else if (name)
        suggest(
            a->d, 28, 0.93,
            "'%s' gets its value in line %u: %.*s() (line %u) has no `return` with a value, so it "
            "returns undefined.",
            name, line, P(m.group[0]), number);
    else
        suggest(
            a->d, 28, 0.93,
            "%.*s() (line %u) has no `return` with a value, so it returns undefined: return the "
            "value in it.",
            P(m.group[0]), number);
    return true;
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

/* A text or a number that a method of Date is called on. */
static bool is_for_dates(const struct advice *a, struct piece owner, struct piece name)
{
    static const char *const of_dates[] = {
        "getFullYear",  "getMonth",   "getDate",     "getDay",  "getHours", "getTime",
        "getMinutes",   "getSeconds", "toISOString", "setDate", "setHours", "toLocaleDateString",
        "toDateString", "setMonth",   "setFullYear", NULL
    };
    if (!piece_among(name, of_dates))
        return false;
    suggest(a->d, 32, 0.92,
            "%.*s() belongs to a Date, and '%.*s' holds another value: make one of it, new "
            "Date(%.*s).%.*s(...).",
            P(name), P(owner), P(owner), P(name));
    return true;
}

static bool is_for_numbers(const struct advice *a, struct piece owner, struct piece name)
{
    static const char *const of_numbers[] = { "toFixed", "toPrecision", "toExponential", NULL };
    if (!piece_among(name, of_numbers))
        return false;
    suggest(a->d, 32, 0.92,
            "%.*s() is for numbers, and '%.*s' holds another value: convert it first, "
            "Number(%.*s).%.*s(...).",
            P(name), P(owner), P(owner), P(name));
    return true;
}

/* A Date has no format(). */
static bool is_date(const struct advice *a, struct piece owner, struct piece name)
{
    static const char *const formats[] = { "format", "strftime", "toFormat", "toDate", NULL };
    uint32_t line = 0;
    if (!piece_is(js_collection(a, owner, &line), "Date") || !piece_among(name, formats))
        return false;
    suggest(a->d, 32, 0.93,
            "A Date has no %.*s(): %.*s.toISOString().slice(0, 10) gives 2024-12-31, and "
            "%.*s.toLocaleDateString(\"en-GB\") other forms.",
            P(name), P(owner), P(owner));
    return true;
}

/* text.split() of a Buffer, of a promise of the readline module, of a child process. */
static bool holds_buffer(const struct advice *a, struct piece owner, struct piece name,
                         struct piece value)
{
    struct match m;
    if (!value.at || !piece_among(name, text_methods))
        return false;
    if (match(a->g, "\\b(readFileSync|execSync|execFileSync)\\([^,]*\\)$", value, &m))
        suggest(a->d, 32, 0.93,
                "%.*s() returns a Buffer, so '%.*s' is no text: give it an encoding, %s, or add "
                ".toString().",
                P(m.group[0]), P(owner),
                piece_is(m.group[0], "readFileSync") ? "readFileSync(path, \"utf8\")"
                                                     : "{ encoding: \"utf8\" }");
    else if (match(a->g, "^(exec|spawn|execFile|child_process\\.\\w+|cp\\.\\w+)\\(", value, &m))
        suggest(a->d, 32, 0.92,
                "%.*s() returns a process, not its output: use execSync(command, { encoding: "
                "\"utf8\" }), or a "
                "callback, (error, stdout) => { ... }.",
                P(m.group[0]));
    else if (match(a->g, "^[\\w$.]+\\.question\\(", value, &m) &&
             piece_has(text_of_source(a->file), "readline/promises"))
        suggest(a->d, 26, 0.93,
                "question() of 'readline/promises' returns a promise: write await %.*s.",
                P(piece_cut(value, 100)));
    else
        return false;
    return true;
}

static void on_item_not_function(const struct advice *a)
{
    struct piece owner = a->m.group[0], key = a->m.group[1], name = a->m.group[2], value, function;
    uint32_t line = 0;
    if (!name.at && js_item_is_called(a, owner, key))
        return;
    if (name.at && js_assigned(a, owner, &value, &line) && js_promises(a, value, &function))
        suggest(a->d, 26, 0.93,
                "'%.*s' is a list of promises (line %u): wait for all of them, const %.*s = await "
                "Promise.all(...), with the map(...) in the brackets.",
                P(owner), line, P(owner));
    else if (name.at)
        suggest(a->d, 32, 0.75,
                "%.*s[%.*s] has no function '%.*s': console.log(typeof %.*s[%.*s]) shows its type.",
                P(owner), P(key), P(name), P(owner), P(key));
    else
        suggest(a->d, 32, 0.8,
                "%.*s[%.*s] is not a function: no line puts one there, or the key is another one.",
                P(owner), P(key));
}

static void on_no_class(const struct advice *a)
{
    struct piece name = a->m.group[0], value;
    const struct source_file *f;
    uint32_t line = 0, made = 0;
    if (js_wrong_import(a, name, true))
        return;
    if ((made = js_function(a, name, &f)) &&
        match(a->g, "=>", source_line(f, made), &(struct match){ 0 }))
        suggest(a->d, 32, 0.93,
                "'%.*s' is an arrow function (line %u), which cannot be called with new: write "
                "class %.*s { "
                "constructor(...) { ... } }.",
                P(name), made, P(name));
    else if (js_assigned(a, name, &value, &line) && starts_with(value, "{"))
        suggest(
            a->d, 32, 0.92,
            "'%.*s' is an object (line %u), not a class: use it without new, or make it a class.",
            P(name), line);
    else if (piece_is(name, "Math") || piece_is(name, "JSON") || piece_is(name, "Symbol") ||
             piece_is(name, "BigInt"))
        suggest(a->d, 32, 0.95, "%.*s is used without new.", P(name));
    else
        suggest(
            a->d, 32, 0.8,
            "'%.*s' is not a class and cannot be called with new: check its declaration or import.",
            P(name));
}

/* A name that is near, or the kind of the value. */
static void say_not_function(const struct advice *a, struct piece owner, struct piece name)
{
    bool dot = owner.at != NULL;
    struct piece value;
    uint32_t line = 0;
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
    uint32_t made = 0;
    struct piece class = dot ? js_class_of(a, owner, &made) : NO_PIECE;
    if (dot && (js_value_is_called(a, owner, name) || (class.at && is_of_class(a, class, name)) ||
                js_function_is_not_called(a, owner, name) ||
                js_wrong_function_of_module(a, owner, name) || js_no_such_method(a, owner, name)))
        return;
    if (!dot && (js_wrong_import(a, name, false) || js_is_set_below(a, name) ||
                 js_parameter_hides(a, name)))
        return;
    if (dot && (is_of_class(a, owner, name) || is_known_object(a, owner, name) ||
                is_date(a, owner, name) || holds_buffer(a, owner, name, known ? value : NO_PIECE) ||
                is_habit(a, name, known ? value : NO_PIECE)))
        return;
    if (known && piece_among(name, array_methods) && starts_with(value, "{")) {
        suggest(a->d, 32, 0.92,
                "'%.*s' is an object since line %u, not an array: loop over its Object.keys(), "
                "Object.values() or Object.entries().",
                P(owner), line);
        return;
    }
    if (known && piece_among(name, array_methods) && strcmp(js_kind_of(a, value), "text") == 0) {
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
    if (dot && (is_for_dates(a, owner, name) || is_for_numbers(a, owner, name)))
        return;
    say_not_function(a, owner, name);
}

static void on_without_new(const struct advice *a)
{
    char call[160], now[170];
    suggest(a->d, 32, 0.95, "A class is called with `new`: add it.");
    (void)snprintf(call, sizeof call, "%.*s(", P(a->m.group[0]));
    (void)snprintf(now, sizeof now, "new %s", call);
    (void)suggest_swap(a->in, a->d, piece_of(call), now);
}

/* The parameters of the constructor of the class behind `extends`. */
static struct piece parameters_of_base(const struct advice *a, struct piece base)
{
    struct piece rest = text_of_source(a->file), line;
    struct match m;
    bool inside = false;
    while (next_line(&rest, &line)) {
        if (match(a->g, "\\bclass\\s+([\\w$]+)", line, &m))
            inside = piece_same(m.group[0], base);
        if (inside && match(a->g, "\\bconstructor\\s*\\(([^()]*)\\)", line, &m))
            return m.group[0];
    }
    return NO_PIECE;
}

static void on_super(const struct advice *a)
{
    struct match m, c;
    struct piece base = NO_PIECE;
    for (uint32_t n = a->d->location.line;
         n > 0 && a->d->location.line - n < LINES_NEAR && !base.at; n--)
        if (match(a->g, "\\bclass\\b.*\\bextends\\s+([\\w$.]+)", source_line(a->file, n), &m))
            base = m.group[0];
    struct piece with = base.at ? parameters_of_base(a, base) : NO_PIECE;
    for (uint32_t n = a->d->location.line + 1; n < a->d->location.line + 12; n++)
        if (match(a->g, "^\\s*super\\((.*)\\);?\\s*$", source_line(a->file, n), &c)) {
            suggest(a->d, 10, 0.95,
                    "super(...) must run before `this` is used: move line %u above this one, "
                    "super(%.*s);",
                    n, P(c.group[0]));
            return;
        }
    suggest(a->d, 10, 0.94,
            "The constructor of a class that extends another must call super(...) first: add "
            "super(%.*s); at its "
            "beginning.",
            P(piece_cut(with, 80)));
}

#include "diagnose/node_objects.rules.h" /* generated */
