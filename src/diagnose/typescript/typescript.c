/* TypeScript: reads and explains errors of its checker. Errors at run time are JavaScript's. Runs
 * in: keeper. */
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "diagnose/typescript.words.h" /* generated */
#include "diagnose/typescript/typescript.h"

static const struct {
    uint32_t from, to; /* numbers of errors */
    enum category category;
} categories[] = {
    { 1000, 1999, CATEGORY_SYNTAX }, { 2304, 2304, CATEGORY_NAME },
    { 2552, 2552, CATEGORY_NAME },   { 2448, 2448, CATEGORY_NAME },
    { 2454, 2454, CATEGORY_NAME },   { 2580, 2584, CATEGORY_NAME },
    { 2305, 2308, CATEGORY_IMPORT }, { 2613, 2614, CATEGORY_IMPORT },
    { 2724, 2724, CATEGORY_IMPORT }, { 7016, 7016, CATEGORY_IMPORT },
    { 2792, 2792, CATEGORY_IMPORT }, { 0, 99999, CATEGORY_TYPE },
};

static bool read_line(struct diagnoser *g, const struct diagnose_input *in, struct diagnosis *d,
                      struct piece line)
{
    struct match m;
    if (!match(g, "^(.+?)\\((\\d+),(\\d+)\\): error (TS\\d+): (.*)$", line, &m) &&
        !match(g, "^(.+?):(\\d+):(\\d+) - error (TS\\d+): (.*)$", line, &m))
        return false;
    if (d->type[0]) { /* the first error is the diagnosis */
        struct further_error more = { 0 };
        COPY(m.group[3], more.type);
        COPY(m.group[4], more.message);
        (void)set_place(in, &more.at, m.group[0], m.group[1], m.group[2]);
        add_further(d, &more);
        return true;
    }
    COPY(m.group[3], d->type);
    COPY(m.group[4], d->message);
    (void)set_place(in, &d->location, m.group[0], m.group[1], m.group[2]);
    uint32_t number = piece_number(piece_skip(m.group[3], 2));
    for (size_t i = 0; i < ARRAY_LEN(categories); i++)
        if (number >= categories[i].from && number <= categories[i].to) {
            d->category = categories[i].category;
            break;
        }
    return true;
}

static bool typescript_read(struct diagnoser *g, const struct diagnose_input *in,
                            struct diagnosis *d)
{
    struct piece texts[] = { text_of(in), text_printed(in) }, line;
    for (size_t i = 0; i < 2; i++) /* the compiler prints its errors on stdout */
        for (unsigned n = 0; n < LINES_SEEN && next_line(&texts[i], &line); n++)
            if ((i == 0 || in->compiling || in->verdict == VERDICT_COMPILE_ERROR) &&
                read_line(g, in, d, line))
                continue;
    if (d->type[0]) {
        point_over_word(in, d);
        return true;
    }
    return node_read(g, in, d);
}

/* ---- the rules ---- */

/* The word at the location. */
struct piece ts_word_here(const struct advice *a)
{
    const struct place_in_code *p = &a->d->location;
    if (p->column == 0 || p->end_column <= p->column || !piece_at(a->line, p->end_column - 1))
        return NO_PIECE;
    return piece_cut(piece_from(a->line, p->column), p->end_column - p->column);
}

static void on_did_you_mean(const struct advice *a)
{
    char name[128];
    COPY(a->m.group[0], name);
    suggest(a->d, 32, 0.94, "Did you mean '%s'?", name);
    (void)suggest_swap(a->in, a->d, ts_word_here(a), name);
}

static void on_name(const struct advice *a)
{
    char best[128];
    if (similar_name(a->in, a->m.group[0], NULL, best, sizeof best)) {
        suggest(a->d, 29, 0.88, "Did you mean '%s'?", best);
        (void)suggest_swap(a->in, a->d, a->m.group[0], best);
    } else {
        suggest(a->d, 29, 0.6,
                "The program does not declare '%.*s' where this line can see it: declare it, or "
                "import it.",
                P(a->m.group[0]));
    }
}

static void on_module(const struct advice *a)
{
    struct piece name = a->m.group[0];
    if (starts_with(name, "."))
        suggest(a->d, 31, 0.88,
                "'%.*s' is not among the files of the run: send it with the run (--file, \"files\" "
                "in a request), or check its name.",
                P(name));
    else
        suggest(a->d, 31, 0.85,
                "The package '%.*s' (or its types) is not installed here, and a jar cannot "
                "download it: send its files, or do without it.",
                P(name));
}

/* Names the texts of a union type. */
static bool is_union(const struct advice *a, struct piece from, struct piece to)
{
    struct match m;
    for (size_t i = 0; starts_with(from, "\"") && i < a->in->n_sources; i++) {
        struct piece rest = text_of_source(&a->in->sources[i]), line;
        for (uint32_t n = 1; n < LINES_SEEN && next_line(&rest, &line); n++)
            if (match(a->g, "^\\s*(?:export )?type (\\w+) = (.+?);?$", line, &m) &&
                piece_same(m.group[0], to)) {
                suggest(a->d, 11, 0.9,
                        "%.*s is %.*s (line %u): use one of these values, or add %.*s there.",
                        P(to), P(m.group[1]), n, P(from));
                return true;
            }
    }
    return false;
}

/* A property that the type does not declare. */
static bool has_extra(const struct advice *a, struct piece to)
{
    struct match extra;
    if (match_text(a->g,
                   "Object literal may only specify known properties, (?:and|but) '([^']+)' does "
                   "not exist(?:.*Did you "
                   "mean to write '([^']+)')?",
                   text_of(a->in), &extra)) {
        char near[128] = "";
        if (extra.group[1].at)
            COPY(extra.group[1], near);
        if (near[0] || ts_near_member(a, to, extra.group[0], near, sizeof near)) {
            suggest(a->d, 32, 0.94, "The type '%.*s' declares no '%.*s': did you mean '%s'?", P(to),
                    P(extra.group[0]), near);
            (void)suggest_swap(a->in, a->d, extra.group[0], near);
            return true;
        }
        suggest(a->d, 32, 0.92,
                "The type '%.*s' declares no '%.*s': remove it here, or add it to the type.", P(to),
                P(extra.group[0]));
        return true;
    }
    return false;
}

static void on_assign(const struct advice *a)
{
    struct piece from = a->m.group[0], to = a->m.group[1];
    struct match m; /* the reason is in the lines below */
    bool missing = match_text(
        a->g,
        "^\\s+(?:Type '.*' is missing the following properties from type '(.+?)': (.+)|Property "
        "'(.+?)' is missing in type '.*' but required in type '(.+?)')",
        text_of(a->in), &m);
    if (has_extra(a, to))
        return;
    if (missing && !m.group[0].at) {
        m.group[0] = m.group[3];
        m.group[1] = m.group[2];
    }
    if ((piece_is(to, "never") && ts_missing_case(a, from)) || ts_other_length(a, to))
        return;
    if (piece_is(to, "number") && (piece_is(from, "string") || starts_with(from, "\"")))
        suggest(a->d, 11, 0.92,
                "The value is a string, and a number is needed: convert it with Number(...), or "
                "write it without quotes.");
    else if (piece_is(to, "string") && (piece_is(from, "number") || piece_is(from, "boolean")))
        suggest(a->d, 11, 0.92,
                "The value is a %.*s, and a string is needed: convert it with String(...) or a "
                "template `${...}`.",
                P(from));
    else if ((piece_has(from, "undefined") || piece_has(from, "null")) && piece_has(from, "|"))
        suggest(a->d, 28, 0.9,
                "The value may be undefined or null: test it first, give a default (`?? value`), "
                "or widen the type (%.*s | undefined).",
                P(to));
    else if (starts_with(from, "Promise<"))
        ts_suggest_await(a);
    else if (piece_is(from, "null") || piece_is(from, "undefined"))
        suggest(a->d, 28, 0.92,
                "The type does not allow %.*s: write %.*s | %.*s, or give another value.", P(from),
                P(to), P(from));
    else if (starts_with(to, "Promise<"))
        suggest(
            a->d, 28, 0.88,
            "A promise is needed, and this is a plain value: make the function `async`, or write "
            "Promise.resolve(value).");
    else if (ts_enum_member(a, from, to) || is_union(a, from, to))
        return;
    else if (missing)
        suggest(a->d, 10, 0.9, "Give %.*s too, or make it optional in '%.*s' (`name?:`).",
                P(m.group[1]), P(m.group[0]));
    else if (!ts_other_kind(a, from, to))
        suggest(a->d, 11, 0.75,
                "The value has the type '%.*s', and '%.*s' is needed: change one of the types, or "
                "convert the value.",
                P(from), P(to));
}

/* `X.name`, where the class X declares the method `name` for its objects. */
static bool is_method_of_objects(const struct advice *a, struct piece type, struct piece name)
{
    struct piece class = starts_with(type, "typeof ") ? piece_skip(type, 7) : NO_PIECE,
                 rest = text_of_source(a->file), line;
    struct match m;
    bool inside = false;
    for (uint32_t n = 1; class.at && n < LINES_SEEN && next_line(&rest, &line); n++) {
        if (match(a->g, "\\bclass\\s+([\\w$]+)", line, &m)) {
            inside = piece_same(m.group[0], class);
            continue;
        }
        if (!inside ||
            !match(a->g,
                   "^\\s+(?:(?:public|private|protected|readonly|async|get|set)\\s+)*([\\w$]+)\\s*("
                   "?:[(<:=?!]|$)",
                   line, &m) ||
            !piece_same(m.group[0], name))
            continue;
        suggest(a->d, 32, 0.94,
                "'%.*s' (line %u) belongs to the objects of %.*s, not to the class: write `static` "
                "before it in line %u, or call it on an object, new %.*s(...).%.*s.",
                P(name), n, P(class), n, P(class), P(name));
        return true;
    }
    return false;
}

static void on_property(const struct advice *a)
{
    struct piece name = a->m.group[0], type = a->m.group[1];
    struct similar n = { .name = name };
    similar_try_sources(&n, a->in);
    char near[128] = "";
    struct match m;
    if (starts_with(type, "Promise<"))
        ts_suggest_await(a);
    else if (ts_type_parameter(a, type, name) || is_method_of_objects(a, type, name))
        return;
    else if (ts_near_member(a, type, name, near, sizeof near)) {
        suggest(a->d, 32, 0.93, "The type '%.*s' declares no '%.*s': did you mean '%s'?", P(type),
                P(name), near);
        (void)suggest_swap(a->in, a->d, name, near);
    } else if (match_text(a->g, "^\\s+Property '[^']+' does not exist on type '", text_of(a->in),
                          &m))
        suggest(a->d, 32, 0.92,
                "Not every type of the union %.*s has '%.*s': test first which one it is, by the "
                "property that tells them "
                "apart, or with `\"%.*s\" in x`.",
                P(type), P(name), P(name));
    else if (piece_is(type, "{}"))
        suggest(a->d, 32, 0.93,
                "The object is declared as {}, which has no '%.*s': give it a type, { %.*s: ... }, "
                "or Record<string, "
                "unknown>.",
                P(name), P(name));
    else if (n.best[0]) {
        suggest(a->d, 32, 0.85, "'%.*s' has no '%.*s': did you mean '%s'?", P(type), P(name),
                n.best);
        (void)suggest_swap(a->in, a->d, name, n.best);
    } else
        suggest(a->d, 32, 0.75,
                "The type '%.*s' declares no '%.*s': add it to the type, or check the type of the "
                "object.",
                P(type), P(name));
}

/* The mark is at the beginning of `a.b.c` and does not show which part may be missing: the part
 * that is declared as `b?:`. With one dot it can only be the first. *at becomes the offset of the
 * dot. */
static bool which_is_optional(const struct advice *a, size_t *at)
{
    struct piece line = a->line;
    size_t dot = *at;
    struct match m;
    if (!match(a->g, "^\\.[\\w$]+\\.", piece_skip(line, dot), &m))
        return true;
    while (match(a->g, "^\\.([\\w$]+)(?=\\.)", piece_skip(line, dot), &m)) {
        char declared[80];
        (void)snprintf(declared, sizeof declared, "%.*s?:", P(piece_cut(m.group[0], 70)));
        dot += m.all.len;
        for (size_t i = 0; i < a->in->n_sources; i++)
            if (piece_has(text_of_source(&a->in->sources[i]), declared)) {
                *at = dot;
                return true;
            }
    }
    return false;
}

static void on_possibly(const struct advice *a)
{
    suggest(a->d, 28, 0.92, "The value may be %.*s: test it first, or read it with `?.`.",
            P(a->m.group[0]));
    struct piece word = ts_word_here(a);
    size_t at = word.at ? piece_end(a->line, word) : a->line.len;
    struct match m;
    if (match(a->g, "\\breturn\\b|:\\s*[\\w\\[\\]<>]+\\s*=[^=>]|\\s[-+*/<>]\\s|[-+*/]=", a->line,
              &m))
        return; /* undefined would not fit there */
    if (match(a->g, "^\\.[\\w$.]*\\s*(?:[-+*/]?=)[^=]", piece_skip(a->line, at), &m) ||
        match(a->g, "^\\.[\\w$]+\\((?:[^()]|\\([^()]*\\))*\\)\\.", piece_skip(a->line, at), &m))
        return; /* an assignment, or a call whose result may be missing */
    if (piece_byte(a->line, at) == '.') {
        if (!which_is_optional(a, &at))
            return;
        suggest_replacement(a->d, "%.*s?%.*s", P(piece_cut(a->line, at)),
                            P(piece_skip(a->line, at)));
    }
}

/* function f(to: string, cc?: string, subject: string) */
static void on_optional_order(const struct advice *a)
{
    struct piece required = ts_word_here(a), rest = piece_before(a->line, a->d->location.column),
                 optional = NO_PIECE;
    struct match m;
    struct piece whole = rest;
    while (rest.len > 0 && match(a->g, "([\\w$]+)\\s*\\?\\s*:", rest, &m)) {
        optional = m.group[0];
        rest = piece_after(whole, m.all);
    }
    if (optional.at && required.at)
        suggest(a->d, 10, 0.95,
                "Optional parameters come last: move '%.*s?' behind '%.*s', make '%.*s' optional "
                "too (`%.*s?:`), or write "
                "`%.*s: ... | undefined`.",
                P(optional), P(required), P(required), P(required), P(optional));
    else
        suggest(
            a->d, 10, 0.94,
            "Optional parameters come last: move the parameter with `?` behind the required ones.");
}

/* class A implements B: the lines below name the members. */
static void on_implements(const struct advice *a)
{
    struct match m;
    struct piece class = a->m.group[0], base = a->m.group[1], text = text_of(a->in);
    if (match_text(a->g,
                   "^\\s+Type '.*' is missing the following properties from type '.*': (.+?)\\.?$",
                   text, &m))
        suggest(a->d, 10, 0.94, "%.*s must have the members that %.*s declares: add %.*s.",
                P(class), P(base), P(m.group[0]));
    else if (match_text(a->g, "^\\s+Property '([^']+)' is missing in type", text, &m))
        suggest(a->d, 10, 0.94, "%.*s must have the members that %.*s declares: add '%.*s'.",
                P(class), P(base), P(m.group[0]));
    else if (match_text(a->g, "^\\s+Property '([^']+)' is (private|protected)", text, &m))
        suggest(a->d, 10, 0.93,
                "'%.*s' is %.*s in %.*s, and an interface has public members: remove the word.",
                P(m.group[0]), P(m.group[1]), P(class));
    else
        suggest(a->d, 10, 0.88,
                "%.*s lacks a member of %.*s, or has it with another type: the lines below the "
                "error name it.",
                P(class), P(base));
}

/* A method or field whose type differs from the one of the interface or base class. */
static void on_other_member(const struct advice *a)
{
    struct match m;
    struct piece name = a->m.group[0], class = a->m.group[1], base = a->m.group[2];
    if (match_text(a->g, "^\\s+Type '(.+)' is not assignable to type '(.+?)'\\.?$", text_of(a->in),
                   &m))
        suggest(a->d, 10, 0.93,
                "'%.*s' of %.*s must have the type that %.*s declares: %.*s, not %.*s.", P(name),
                P(class), P(base), P(piece_cut(m.group[1], 100)), P(piece_cut(m.group[0], 100)));
    else
        suggest(a->d, 10, 0.9,
                "'%.*s' of %.*s must have the parameters and the type that %.*s declares.", P(name),
                P(class), P(base));
}

static void on_await(const struct advice *a)
{
    ts_suggest_await(a);
}

/* `await` in a function that is not async. */
static void on_await_outside(const struct advice *a)
{
    struct match m;
    for (uint32_t n = a->d->location.line; n > 0 && a->d->location.line - n < LINES_NEAR; n--) {
        struct piece line = source_line(a->file, n);
        if (n < a->d->location.line && indent_of(line) >= indent_of(a->line))
            continue;
        if (piece_has(line, "async ") ||
            !match(a->g, "\\bfunction\\s*([\\w$]*)|(?:const|let)\\s+([\\w$]+)\\s*=.*=>|(=>)", line,
                   &m))
            continue;
        struct piece name = m.group[0].len ? m.group[0] : m.group[1];
        suggest(
            a->d, 26, 0.94,
            "`await` works only in an async function: write `async` before %s%.*s%s in line %u.",
            name.at ? "" : "the function", P(name), name.at ? "()" : "", n);
        return;
    }
    suggest(a->d, 26, 0.93,
            "`await` works only in an async function: write `async` before the function.");
}

static void on_index(const struct advice *a)
{
    struct match m;
    if (match(a->g, "type '(?:unknown|[A-Z])'", a->message, &m))
        suggest(a->d, 8, 0.92,
                "The key must be one of the object's own: declare it as <T, K extends keyof "
                "T>(obj: T, key: K).");
    else if (match(a->g, "type '\\{\\}'", a->message, &m))
        suggest(a->d, 8, 0.93,
                "The object is declared as {}, which has no keys: give it a type, const x: "
                "Record<string, number> = {}, or {} "
                "as Record<string, number>.");
    else
        suggest(a->d, 8, 0.9,
                "The key is any string, and the object has certain keys: declare the key as `keyof "
                "typeof x`, or the "
                "object as Record<string, ...>.");
}

static void on_returns_nothing(const struct advice *a)
{
    uint32_t at = 0;
    struct match m;
    for (uint32_t n = a->d->location.line; n < a->d->location.line + 6 && !at; n++)
        if (match(a->g, "\\bswitch\\s*\\(", source_line(a->file, n), &m))
            at = n;
    if (at)
        suggest(a->d, 4, 0.9,
                "The switch in line %u does not handle every value, and the function returns "
                "nothing then: add the missing "
                "case, or a `default` that returns or throws.",
                at);
    else
        suggest(a->d, 4, 0.88,
                "A path returns no value: return one on every path (at the end of the function "
                "too), or declare the "
                "function as void.");
}

static void on_expected(const struct advice *a)
{
    char bracket;
    uint32_t line = unclosed_bracket(a->file, &bracket);
    if (line && (piece_is(a->m.group[0], "}") || piece_is(a->m.group[0], ")") ||
                 piece_is(a->m.group[0], "]")))
        suggest(a->d, 18, 0.9, "The '%c' that opens in line %u is not closed: close it.", bracket,
                line);
    else
        suggest(a->d, 18, 0.85, "A '%.*s' is missing before the mark: add it.", P(a->m.group[0]));
}

/* x === "b", where the type of x has other texts alone. */
static void on_never_equal(const struct advice *a)
{
    struct piece left = a->m.group[0], right = a->m.group[1];
    bool literals = starts_with(left, "\"") && starts_with(right, "\"");
    if (is_union(a, right, left) || is_union(a, left, right))
        return;
    if (piece_has(left, " | ") || piece_has(right, " | ") || literals)
        suggest(a->d, 11, 0.9,
                "The value is %.*s here, and never %.*s: compare it with a value of its type, or "
                "add the other one to the type.",
                P(left), P(right));
    else
        suggest(
            a->d, 11, 0.85,
            "'%.*s' and '%.*s' can never be equal: convert one of them, or compare with another "
            "value.",
            P(left), P(right));
}

static void on_spread(const struct advice *a)
{
    ts_spread(a);
}

#include "diagnose/typescript.rules.h" /* generated */

/* An older compiler reports new syntax as another error, such as a missing comma. */
static bool advise_older_compiler(struct diagnoser *g, const struct diagnose_input *in,
                                  struct diagnosis *d)
{
    struct match m;
    if (!match_text(
            g, "^note: (.{1,60}) needs TypeScript (\\d[\\d.]*), and this machine has (\\d[\\d.]*)",
            text_of(in), &m))
        return false;
    const char *instead = text_for(older_ways, m.group[0]);
    suggest(d, 0, 0.97,
            "%.*s needs TypeScript %.*s, and the compiler here is %.*s: install a newer one (npm "
            "install -g typescript@5), or %s.",
            P(m.group[0]), P(m.group[1]), P(m.group[2]),
            instead ? instead : "write it the older way");
    return true;
}

static void typescript_advise(struct diagnoser *g, const struct diagnose_input *in,
                              struct diagnosis *d)
{
    if (strncmp(d->type, "TS", 2) != 0) {
        node_advise(g, in, d);
        return;
    }
    (void)advise_fence(in, d);
    COPY(piece_of("https://www.typescriptlang.org/docs/handbook/2/everyday-types.html"), d->docs);
    if (!advise_older_compiler(g, in, d))
        advise_by(g, in, d, rules);
}

const struct grammar grammar_typescript = { .name = "typescript",
                                            .read = typescript_read,
                                            .advise = typescript_advise };
