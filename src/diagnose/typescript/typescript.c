/* TypeScript: what its checker says; what fails when it runs is JavaScript's. */
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "diagnose/core/advice.h"
#include "diagnose/node/node.h"

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
    if (d->type[0]) { /* the first is the one to fix; others follow from it or stand beside it */
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
    uint32_t number = piece_number((struct piece){ m.group[3].at + 2, m.group[3].len - 2 });
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
    struct piece texts[] = { { in->text, in->len }, { in->printed, in->printed_len } }, line;
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

/* ---- what helps ---- */

struct ts {
    struct diagnoser *g;
    const struct diagnose_input *in;
    struct diagnosis *d;
    struct piece message, line;
    struct match m;
};

/* The word at the location. */
static struct piece word_here(const struct ts *t)
{
    const struct place_in_code *p = &t->d->location;
    if (!t->line.at || p->column == 0 || p->end_column <= p->column ||
        p->end_column - 1 > t->line.len)
        return NO_PIECE;
    return (struct piece){ t->line.at + p->column - 1, p->end_column - p->column };
}

static void on_did_you_mean(struct ts *t)
{
    char name[128];
    COPY(t->m.group[0], name);
    suggest(t->d, 32, 0.94, "Did you mean '%s'?", name);
    (void)suggest_swap(t->in, t->d, word_here(t), name);
}

static void on_node_name(struct ts *t)
{
    suggest(t->d, 29, 0.85,
            "The checker does not know Node's names: without its types (@types/node) leave "
            "--check-types out, or write `declare const %.*s: any;`.",
            P(t->m.group[0]));
}

static void on_name(struct ts *t)
{
    char best[128];
    if (nearest_name_in(t->in, t->m.group[0], NULL, best, sizeof best)) {
        suggest(t->d, 29, 0.88, "Did you mean '%s'?", best);
        (void)suggest_swap(t->in, t->d, t->m.group[0], best);
    } else {
        suggest(t->d, 29, 0.6,
                "Nothing declares '%.*s' where it can be seen from here: declare it, or import it.",
                P(t->m.group[0]));
    }
}

static void on_module(struct ts *t)
{
    struct piece name = t->m.group[0];
    if (starts_with(name, "."))
        suggest(t->d, 31, 0.88,
                "'%.*s' is not among the files of the run: send it too (--file, \"files\" in a "
                "request), or look at its name.",
                P(name));
    else
        suggest(t->d, 31, 0.85,
                "The package '%.*s' (or its types) is not installed here, and a jar cannot "
                "download it: send its files, or do without it.",
                P(name));
}

/* A type that is one of several texts: which. */
static bool is_union(struct ts *t, struct piece from, struct piece to)
{
    struct match m;
    for (size_t i = 0; starts_with(from, "\"") && i < t->in->n_sources; i++) {
        struct piece rest = text_of_source(&t->in->sources[i]), line;
        for (uint32_t n = 1; n < LINES_SEEN && next_line(&rest, &line); n++)
            if (match(t->g, "^\\s*(?:export )?type (\\w+) = (.+?);?$", line, &m) &&
                piece_same(m.group[0], to)) {
                suggest(t->d, 11, 0.9,
                        "%.*s is %.*s (line %u): use one of these, or add %.*s there.", P(to),
                        P(m.group[1]), n, P(from));
                return true;
            }
    }
    return false;
}

static void on_assign(struct ts *t)
{
    struct piece from = t->m.group[0], to = t->m.group[1];
    struct match m; /* the reason stands in the lines below */
    bool missing = match_text(
        t->g,
        "^\\s+(?:Type '.*' is missing the following properties from type '(.+?)': (.+)|Property "
        "'(.+?)' is missing in type '.*' but required in type '(.+?)')",
        text_of(t->in), &m);
    if (missing && !m.group[0].at) {
        m.group[0] = m.group[3];
        m.group[1] = m.group[2];
    }
    if (piece_is(to, "number") && (piece_is(from, "string") || starts_with(from, "\"")))
        suggest(t->d, 11, 0.92,
                "A string is given where a number is wanted: Number(...) makes one, or write it "
                "without quotes.");
    else if (piece_is(to, "string") && (piece_is(from, "number") || piece_is(from, "boolean")))
        suggest(t->d, 11, 0.92,
                "A %.*s is given where a string is wanted: String(...) or a template `${...}` "
                "makes one.",
                P(from));
    else if (piece_has(from, "undefined") || piece_has(from, "null"))
        suggest(t->d, 28, 0.9,
                "It may be undefined or null: test it first, give a default (`?? value`), or widen "
                "the type (%.*s | undefined).",
                P(to));
    else if (starts_with(from, "Promise<"))
        suggest(t->d, 28, 0.93, "It is a promise: put `await` before it.");
    else if (is_union(t, from, to))
        return;
    else if (missing)
        suggest(t->d, 10, 0.9, "Give %.*s too, or make it optional in '%.*s' (`name?:`).",
                P(m.group[1]), P(m.group[0]));
    else
        suggest(t->d, 11, 0.75,
                "What is given is '%.*s', what is wanted is '%.*s': change one of the two, or "
                "convert the value.",
                P(from), P(to));
}

static void on_property(struct ts *t)
{
    struct piece name = t->m.group[0], type = t->m.group[1];
    struct nearest n = { .name = name };
    nearest_try_sources(&n, t->in);
    if (starts_with(type, "Promise<"))
        suggest(t->d, 28, 0.94, "It is a promise: put `await` before it.");
    else if (n.best[0]) {
        suggest(t->d, 32, 0.85, "'%.*s' has no '%.*s': did you mean '%s'?", P(type), P(name),
                n.best);
        (void)suggest_swap(t->in, t->d, name, n.best);
    } else
        suggest(t->d, 32, 0.75,
                "The type '%.*s' declares no '%.*s': add it to the type, or look at what the "
                "object is.",
                P(type), P(name));
}

/* The mark is where `a.b.c` begins, and not which part of it may be missing: it is the one that is declared as `b?:`. With one
 * dot it can only be the first. *at: of the dot. */
static bool which_is_optional(struct ts *t, size_t *at)
{
    struct piece line = t->line;
    size_t dot = *at;
    struct match m;
    if (!match(t->g, "^\\.[\\w$]+\\.", (struct piece){ line.at + dot, line.len - dot }, &m))
        return true;
    while (
        match(t->g, "^\\.([\\w$]+)(?=\\.)", (struct piece){ line.at + dot, line.len - dot }, &m)) {
        char declared[80];
        (void)snprintf(declared, sizeof declared,
                       "%.*s?:", (int)(m.group[0].len < 70 ? m.group[0].len : 70), m.group[0].at);
        dot += m.all.len;
        for (size_t i = 0; i < t->in->n_sources; i++)
            if (piece_has((struct piece){ t->in->sources[i].text, t->in->sources[i].len },
                          declared)) {
                *at = dot;
                return true;
            }
    }
    return false;
}

static void on_possibly(struct ts *t)
{
    suggest(t->d, 28, 0.92, "It may be %.*s: test it first, or read it with `?.`.",
            P(t->m.group[0]));
    struct piece word = word_here(t);
    if (word.at && word.at + word.len < t->line.at + t->line.len && word.at[word.len] == '.') {
        size_t at = (size_t)(word.at + word.len - t->line.at);
        if (!which_is_optional(t, &at))
            return;
        suggest_replacement(t->d, "%.*s?%.*s", (int)at, t->line.at, (int)(t->line.len - at),
                            t->line.at + at);
    }
}

static void on_arguments(struct ts *t)
{
    suggest(t->d, 10, 0.88,
            "It takes %.*s argument(s), and %.*s are given: look at its declaration; `name?` makes "
            "a parameter optional.",
            P(t->m.group[0]), P(t->m.group[1]));
}

static void on_const(struct ts *t)
{
    suggest(t->d, 33, 0.94, "'%.*s' is declared with const: use let if it is to change.",
            P(t->m.group[0]));
}

static void on_expected(struct ts *t)
{
    char bracket;
    uint32_t line = unclosed_bracket(find_source(t->in, piece_of(t->d->location.file)), &bracket);
    if (line && (piece_is(t->m.group[0], "}") || piece_is(t->m.group[0], ")") ||
                 piece_is(t->m.group[0], "]")))
        suggest(t->d, 18, 0.9, "The '%c' that opens in line %u is not closed.", bracket, line);
    else
        suggest(t->d, 18, 0.85, "A '%.*s' is missing before the mark.", P(t->m.group[0]));
}

static void on_implicit_any(struct ts *t)
{
    suggest(t->d, 0, 0.88, "Say what '%.*s' is: `%.*s: string` (or number, unknown, ...).",
            P(t->m.group[0]), P(t->m.group[0]));
}

static void on_missing_property(struct ts *t)
{
    suggest(t->d, 10, 0.9, "Give '%.*s', or make it optional in the type (`%.*s?:`).",
            P(t->m.group[0]), P(t->m.group[0]));
}

static void on_return(struct ts *t)
{
    suggest(t->d, 4, 0.85, "Return a value on every path, or declare the function as void.");
}

static void on_hidden(struct ts *t)
{
    suggest(t->d, 5, 0.9,
            "'%.*s' is %.*s in %.*s: reach it through a public method or `get %.*s()`, or declare "
            "it public there.",
            P(t->m.group[0]), P(t->m.group[1]), P(t->m.group[2]), P(t->m.group[0]));
}

static void on_missing_several(struct ts *t)
{
    suggest(t->d, 10, 0.9, "Give %.*s too, or make them optional in '%.*s' (`name?:`).",
            P(t->m.group[2]), P(t->m.group[1]));
}

static void on_element(struct ts *t)
{
    suggest(t->d, 8, 0.85,
            "The key is any text, and the type has only certain keys: declare the object as "
            "Record<string, ...>, or the key as `keyof typeof x`.");
}

static void on_unknown(struct ts *t)
{
    suggest(t->d, 12, 0.9,
            "What it is is not known yet: test it first, `if (e instanceof Error)` or typeof.");
}

static void on_not_callable(struct ts *t)
{
    suggest(t->d, 12, 0.85, "It is no function: leave out the brackets, or look at its type.");
}

static void on_twice(struct ts *t)
{
    struct piece name = t->m.group[0].at ? t->m.group[0] : t->m.group[1];
    suggest(t->d, 33, 0.85,
            "'%.*s' is declared twice (a file without import or export shares its names with all "
            "others): rename one, or add `export {}`.",
            P(name));
}

static void on_overload(struct ts *t)
{
    suggest(t->d, 10, 0.7,
            "None of the function's forms takes these arguments: the lines below say what each one "
            "wants.");
}

static void on_read_only(struct ts *t)
{
    suggest(t->d, 33, 0.9,
            "'%.*s' is readonly: make a copy with the change, or take readonly away.",
            P(t->m.group[0]));
}

static void on_unassigned(struct ts *t)
{
    suggest(t->d, 16, 0.9,
            "'%.*s' gets a value only on some paths: give it one where it is declared.",
            P(t->m.group[0]));
}

static void on_no_initializer(struct ts *t)
{
    suggest(t->d, 0, 0.88,
            "Give '%.*s' a value in the constructor, or where it is declared; `%.*s?:` says that "
            "it may be missing.",
            P(t->m.group[0]), P(t->m.group[0]));
}

static void on_export(struct ts *t)
{
    suggest(t->d, 30, 0.85,
            "The module exports no '%.*s': look at its export lines; without { } it is the default "
            "export that is imported.",
            P(t->m.group[0]));
}

static void on_overlap(struct ts *t)
{
    suggest(t->d, 11, 0.85,
            "'%.*s' and '%.*s' can never be the same: convert one of them, or compare with another "
            "value.",
            P(t->m.group[0]), P(t->m.group[1]));
}

static void on_arithmetic(struct ts *t)
{
    suggest(t->d, 11, 0.85, "Only numbers are calculated with: Number(...) makes one of text.");
}

static void on_interface(struct ts *t)
{
    suggest(t->d, 10, 0.88, "Define '%.*s' in the class, as the interface says.", P(t->m.group[0]));
}

static const struct {
    const char *pattern;
    void (*advise)(struct ts *t);
} rules[] = {
    { "Did you mean '([^']+)'\\?", on_did_you_mean },
    { "^Cannot find name '([^']+)'\\. Do you need to install type definitions for node",
      on_node_name },
    { "^Cannot find name '([^']+)'\\.?$", on_name },
    { "^Cannot find module '([^']+)'", on_module },
    { "^Could not find a declaration file for module '([^']+)'", on_module },
    { "^Type '(.+?)' is not assignable to type '(.+?)'", on_assign },
    { "^Argument of type '(.+?)' is not assignable to parameter of type '(.+?)'", on_assign },
    { "^Property '([^']+)' does not exist on type '(.+?)'\\.", on_property },
    { "is possibly '([^']+)'", on_possibly },
    { "^Expected (\\S+) arguments?, but got (\\d+)", on_arguments },
    { "^Cannot assign to '([^']+)' because it is a constant", on_const },
    { "^Cannot assign to '([^']+)' because it is a read-only", on_read_only },
    { "^'(.+)' expected", on_expected },
    { "^Parameter '([^']+)' implicitly", on_implicit_any },
    { "^Property '([^']+)' is (private|protected) and only accessible within class '([^']+)'",
      on_hidden },
    { "^Object literal may only specify known properties, and '([^']+)' does not exist in type "
      "'(.+?)'",
      on_property },
    { "^Type '(.+?)' is missing the following properties from type '(.+?)': (.+)$",
      on_missing_several },
    { "^Element implicitly has an 'any' type", on_element },
    { "^'(.+)' is of type 'unknown'|^Object is of type 'unknown'", on_unknown },
    { "^This expression is not callable", on_not_callable },
    { "^Duplicate identifier '([^']+)'|^Cannot redeclare block-scoped variable '([^']+)'",
      on_twice },
    { "^No overload matches this call", on_overload },
    { "^Property '([^']+)' is missing in type", on_missing_property },
    { "must return a value|^Not all code paths|lacks ending return", on_return },
    { "^Variable '([^']+)' is used before being assigned", on_unassigned },
    { "^Property '([^']+)' has no initializer", on_no_initializer },
    { "^Module '.+' has no exported member '([^']+)'\\.$", on_export },
    { "^This (?:condition|comparison) .* types '(.+?)' and '(.+?)' have no overlap", on_overlap },
    { "arithmetic operation must be", on_arithmetic },
    { "^Class .*incorrectly implements interface .*\\n?.*Property '([^']+)' is missing",
      on_interface },
};

/* What to write instead, where it is as short. */
static const struct {
    const char *what, *instead;
} older_ways[] = {
    { "`satisfies`", "declare the variable's type (`const x: T = ...`)" },
    { "a `const` type parameter", "leave const out and say `as const` at the call" },
    { "an `accessor` field", "write a field, or a getter and a setter" },
    { "`using`", "free it in `finally`" },
    { "`with` after an import", "leave `with { ... }` out" },
};

/* Its own words are about what an older compiler makes of it: a comma that is missing. */
static bool advise_older_compiler(struct diagnoser *g, const struct diagnose_input *in,
                                  struct diagnosis *d)
{
    struct match m;
    const char *instead = "write it the older way";
    if (!match_text(
            g, "^note: (.{1,60}) needs TypeScript (\\d[\\d.]*), and this machine has (\\d[\\d.]*)",
            text_of(in), &m))
        return false;
    for (size_t i = 0; i < ARRAY_LEN(older_ways); i++)
        if (piece_is(m.group[0], older_ways[i].what))
            instead = older_ways[i].instead;
    suggest(d, 0, 0.97,
            "%.*s came with TypeScript %.*s, and the compiler here is %.*s: install a newer one "
            "(npm install -g typescript@5), or %s.",
            P(m.group[0]), P(m.group[1]), P(m.group[2]), instead);
    return true;
}

static void typescript_advise(struct diagnoser *g, const struct diagnose_input *in,
                              struct diagnosis *d)
{
    if (strncmp(d->type, "TS", 2) != 0) {
        node_advise(g, in, d);
        return;
    }
    char message[sizeof d->message];
    COPY(piece_of(d->message), message);
    struct ts t = {
        .g = g, .in = in, .d = d, .message = piece_of(message), .line = line_at(in, d)
    };
    struct piece line = piece_trim(t.line);
    if (starts_with(line, "```"))
        suggest(d, 20, 0.97,
                "Line %u is a Markdown fence, not TypeScript: leave the ``` lines out.",
                d->location.line);
    (void)snprintf(d->docs, sizeof d->docs,
                   "https://www.typescriptlang.org/docs/handbook/2/everyday-types.html");
    if (advise_older_compiler(g, in, d))
        return;
    for (size_t i = 0; i < ARRAY_LEN(rules); i++)
        if (match(g, rules[i].pattern, t.message, &t.m)) {
            rules[i].advise(&t);
            break;
        }
}

const struct grammar grammar_typescript = { "typescript", typescript_read, typescript_advise };
