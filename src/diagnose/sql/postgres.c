/* PostgreSQL: reads and explains the errors that psql shows. Runs in: keeper. */
#include <stdio.h>
#include <string.h>

#include "diagnose/postgres.words.h" /* generated */
#include "diagnose/sql/sql.h"

static void advise_group(const struct advice *a)
{
    struct piece name = a->m.group[0], line = a->line;
    struct match c;
    suggest(a->d, 0, 0.9,
            "A column beside an aggregate must be in GROUP BY: add GROUP BY %.*s, or put it into "
            "an aggregate (max(%.*s)).",
            P(name), P(name));
    if (match(a->g, "(?i)^([^;]*\\bfrom\\b[^;]*)(;?\\s*)$", line, &c) &&
        !match(a->g, "(?i)group by|order by", line, &c)) {
        (void)match(a->g, "^([^;]*)(;?\\s*)$", line, &c);
        suggest_replacement(a->d, "%.*s GROUP BY %.*s%.*s", P(c.group[0]), P(name), P(c.group[1]));
    }
}

/* A function of the script with a similar name or other types. */
static bool advise_own_function(const struct advice *a, struct piece name)
{
    struct similar n = { .name = name };
    struct piece same = NO_PIECE;
    for (size_t i = 0; i < a->in->n_sources; i++) {
        struct piece rest = text_of_source(&a->in->sources[i]), line;
        struct match m;
        while (next_line(&rest, &line))
            if (match(a->g, "(?i)\\bfunction\\s+(?:\\w+\\.)?(\\w+)\\s*(\\(.*\\))?", line, &m)) {
                similar_try(&n, m.group[0]);
                if (piece_same(m.group[0], name))
                    same = m.group[1];
            }
    }
    if (same.len > 0)
        suggest(a->d, 0, 0.85,
                "%.*s takes %.*s: pass that number of arguments, of these types (value::type).",
                P(name), P(same));
    else if (n.best[0]) {
        suggest(a->d, 0, 0.9, "Did you mean `%s`? There is no function `%.*s`.", n.best, P(name));
        (void)suggest_swap(a->in, a->d, name, n.best);
    }
    return same.len > 0 || n.best[0];
}

static void advise_function(const struct advice *a)
{
    struct piece name = a->m.group[0];
    for (size_t i = 0; functions[i].word; i++)
        if (sql_same(name, functions[i].word)) {
            suggest(a->d, 0, 0.9, "PostgreSQL has no %s(): write %s.", functions[i].word,
                    functions[i].text);
            return;
        }
    struct match c;
    if (match(a->g, "\\((?:.*, )?(double precision|real), integer\\)", a->message, &c) &&
        sql_same(name, "round"))
        suggest(a->d, 0, 0.9, "round() with digits is for numeric: round(value::numeric, 2).");
    else if (advise_own_function(a, name))
        return;
    else
        suggest(a->d, 0, 0.6,
                "There is no %.*s() for these types: check its name, and convert the arguments "
                "(value::type).",
                P(name));
}

#define DOC "https://www.postgresql.org/docs/15/"

static void advise_type(const struct advice *a)
{
    struct similar n = { .name = a->m.group[0] };
    similar_try_list(&n, usual);
    for (size_t i = 0; types[i].word; i++)
        if (sql_same(a->m.group[0], types[i].word))
            COPY(piece_of(types[i].text), n.best);
    if (!n.best[0]) {
        suggest(a->d, 0, 0.7,
                "There is no type %.*s: use text, integer, bigint, numeric, boolean, date or "
                "timestamp.",
                P(a->m.group[0]));
        return;
    }
    suggest(a->d, 0, 0.9, "PostgreSQL has no type %.*s: use %s.", P(a->m.group[0]), n.best);
    (void)suggest_swap(a->in, a->d, a->m.group[0], n.best);
}

#include "diagnose/postgres.rules.h" /* generated */

/* psql shows the state only with VERBOSITY verbose. */
static void state_by_message(struct diagnoser *g, struct diagnosis *d)
{
    struct match m;
    for (size_t i = 0; !d->type[0] && states[i].word; i++)
        if (match(g, states[i].word, piece_of(d->message), &m))
            COPY(piece_of(states[i].text), d->type);
}

/* "LINE 1: SELECT ...": psql counts lines in the statement, a diagnosis counts them in the file;
 * the text of the line decides. */
static void read_line(struct diagnoser *g, const struct diagnose_input *in, struct piece rest,
                      struct diagnosis *d)
{
    struct piece shown, under;
    struct match m, c;
    if (!next_line(&rest, &shown) || !match(g, "^(LINE (\\d+): )(.*)$", shown, &m) ||
        !next_line(&rest, &under))
        return;
    size_t head = m.group[0].len;
    struct piece text = m.group[2];
    bool cut = starts_with(text, "...");
    if (match(g, "^(?:\\.\\.\\.)?(.*?)(?:\\.\\.\\.)?$", text, &c))
        text = c.group[0];
    const struct source_file *f = find_source(in, piece_of(d->location.file));
    char needle[300];
    COPY(text, needle);
    size_t at = piece_find(source_line(f, d->location.line), needle);
    if (f && !piece_has(source_line(f, d->location.line), needle))
        for (uint32_t n = d->location.line; n > 0 && n + LINES_NEAR > d->location.line; n--)
            if (piece_has(source_line(f, n), needle)) {
                d->location.line = n;
                at = piece_find(source_line(f, n), needle);
                break;
            }
    if (!match(g, "^( *)\\^\\s*$", under, &c) || c.group[0].len < head)
        return;
    uint32_t column = (uint32_t)(c.group[0].len - head);
    if (cut)
        column = column >= 3 ? column - 3 : 0;
    d->location.column = column + (uint32_t)(f ? at : 0) + 1;
    if (!f)
        show_line(d, d->location.line, text);
    point_over_word(in, d);
}

/* An error without a line of the script: Belljar's own message that the server cannot start. */
static bool read_start(struct diagnoser *g, const struct diagnose_input *in, struct diagnosis *d)
{
    struct match m;
    if (!match_text(g, "^error: (.*)$", text_of(in), &m))
        return false;
    COPY(m.group[0], d->message);
    COPY(piece_of("server"), d->type);
    d->category = piece_has(m.group[0], "limit is too small") ? CATEGORY_RESOURCE
                                                              : CATEGORY_RUNTIME;
    return true;
}

static void advise_start(const struct diagnose_input *in, struct diagnosis *d)
{
    for (size_t i = 0; starts[i].word; i++)
        if (starts_with(text_of(in), starts[i].word))
            suggest(d, 40, 0.95, "%s", starts[i].text);
}

/* "PL/pgSQL function take(text,integer) line 3 at SQL statement": lines count from the beginning of
 * the body. */
static void add_body_frame(struct diagnoser *g, const struct diagnose_input *in,
                           struct diagnosis *d, struct piece function, uint32_t line)
{
    struct match m;
    char number[16];
    for (size_t i = 0; i < in->n_sources; i++) {
        struct piece rest = text_of_source(&in->sources[i]), at;
        bool inside = false, block = piece_is(function, "inline_code_block");
        for (uint32_t n = 1; n < LINES_SEEN && next_line(&rest, &at); n++) {
            if (block)
                inside = match(g, "(?i)^\\s*do\\b", at, &m);
            if (match(g, "(?i)\\b(?:function|procedure)\\s+(?:\\w+\\.)?\"?(\\w+)", at, &m))
                inside = piece_same(m.group[0], function);
            if (!inside || !match(g, "\\$\\w*\\$\\s*$|(?i:\\bas|\\bdo)\\s+'", at, &m))
                continue;
            (void)snprintf(number, sizeof number, "%u", n + line - 1);
            add_frame(in, d, piece_of(in->sources[i].name), piece_of(number), NO_PIECE, function);
            return;
        }
    }
}

/* The calls inside the server, the innermost first; then the statement of the script. */
static void read_context(struct diagnoser *g, const struct diagnose_input *in, struct piece rest,
                         struct diagnosis *d)
{
    struct piece line;
    struct match m;
    bool any = false;
    unsigned asked = 0; /* each search reads all files */
    while (next_line(&rest, &line) &&
           !match(g, "^(?:psql:[^:]+:\\d+: )?(?:ERROR|FATAL):  ", line, &m))
        if (match(g, "^(?:CONTEXT:  )?PL/pgSQL function (\\w+)(?:\\(.*\\))? line (\\d+) at ", line,
                  &m)) {
            uint32_t n = piece_number(m.group[1]);
            size_t before = d->n_frames;
            if (n > 0 && n < LINES_SEEN && ++asked <= BLANKS_NEAR)
                add_body_frame(g, in, d, m.group[0], n);
            any |= d->n_frames > before;
        }
    if (!any)
        return;
    char number[16];
    (void)snprintf(number, sizeof number, "%u", d->location.line);
    add_frame(in, d, piece_of(d->location.file), piece_of(number), NO_PIECE, NO_PIECE);
    d->location = d->frames[0].at;
}

#define ERROR "^(?:psql:([^:]+):(\\d+): )?(?:ERROR|FATAL|PANIC):  (?:([0-9A-Z]{5}): )?(.*)$"

/* psql goes on after an error. Later errors of a failed transaction add nothing and are skipped. */
static bool next_error(struct diagnoser *g, const struct diagnose_input *in, struct piece *rest,
                       struct further_error *ret)
{
    struct piece line;
    struct match m;
    while (next_line(rest, &line)) {
        if (!match(g, ERROR, line, &m) || piece_has(line, "current transaction is aborted"))
            continue;
        if (m.group[0].at)
            (void)set_place(in, &ret->at, m.group[0], m.group[1], NO_PIECE);
        COPY(m.group[2], ret->type);
        COPY(m.group[3], ret->message);
        return true;
    }
    return false;
}

static bool read_postgres(struct diagnoser *g, const struct diagnose_input *in, struct diagnosis *d)
{
    struct piece rest = text_of(in), line;
    struct match m;
    for (unsigned n = 0; n < LINES_SEEN && next_line(&rest, &line); n++) {
        if (!match(g, ERROR, line, &m))
            continue;
        COPY(m.group[2], d->type);
        COPY(m.group[3], d->message);
        if (m.group[0].at)
            (void)set_place(in, &d->location, m.group[0], m.group[1], NO_PIECE);
        else if (in->main_name && find_source(in, piece_of(in->main_name)))
            COPY(piece_of(in->main_name), d->location.file);
        if (d->location.line == 0 && match_text(g, "^LINE (\\d+): ", rest, &m))
            d->location.line = piece_number(m.group[0]);
        read_line(g, in, rest, d);
        read_context(g, in, rest, d);
        state_by_message(g, d);
        if (!classify(g, d, rules))
            d->category = CATEGORY_RUNTIME;
        /* Further lines of the message, up to the next error. */
        while (next_line(&rest, &line) &&
               !match(g, "^(?:psql:[^:]+:\\d+: )?(?:ERROR|FATAL):  ", line, &m))
            if (match(g, "^(DETAIL|CONTEXT):  (.*)$", line, &m)) {
                size_t used = strlen(d->message);
                (void)snprintf(d->message + used, sizeof d->message - used, "\n%.*s",
                               P(m.group[1]));
            }
        read_further(g, in, next_error, d);
        return true;
    }
    return read_start(g, in, d);
}

static void advise_postgres(struct diagnoser *g, const struct diagnose_input *in,
                            struct diagnosis *d)
{
    struct match m;
    struct piece detail = NO_PIECE;
    advise_start(in, d);
    if (match(g, "(Key \\(.*?\\)=\\(.*?\\) .*)", piece_of(d->message), &m))
        detail = m.group[0];
    if (detail.at && piece_has(detail, "is not present in table"))
        suggest(d, 0, 0.9, "%.*s Insert that row first.", P(detail));
    else if (d->category != CATEGORY_SYNTAX || !advise_fence(in, d))
        advise_by(g, in, d, rules);
    /* The server's own hint, when there is no other suggestion. */
    if (d->n_suggestions == 0 && match_text(g, "^HINT:  (.*)$", text_of(in), &m))
        suggest(d, 0, 0.7, "%.*s", P(m.group[0]));
    if (!d->docs[0])
        (void)snprintf(d->docs, sizeof d->docs, "%s", DOC "errcodes-appendix.html");
}

const struct grammar grammar_postgres = { .name = "postgres",
                                          .languages = { "postgres", "postgresql" },
                                          .read = read_postgres,
                                          .advise = advise_postgres };
