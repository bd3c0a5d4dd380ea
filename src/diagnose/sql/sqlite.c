/* SQLite: reads and explains the errors of Belljar's own shell and of the sqlite3 program. Runs in:
 * keeper. */
#include <stdio.h>
#include <string.h>

#include "diagnose/sql/sql.h"
#include "diagnose/sqlite.words.h" /* generated */

static void advise_function(const struct advice *a)
{
    for (size_t i = 0; functions[i].word; i++)
        if (sql_same(a->m.group[0], functions[i].word)) {
            suggest(a->d, 0, 0.9, "SQLite has no %s(): write %s.", functions[i].word,
                    functions[i].text);
            (void)snprintf(a->d->docs, sizeof a->d->docs,
                           "https://www.sqlite.org/lang_corefunc.html");
            return;
        }
    advise_nearest(a);
}

#include "diagnose/sqlite.rules.h" /* generated */

/* The statement again, and "^--- error here" below it; a longer one is cut. */
static void read_shown(struct diagnoser *g, const struct diagnose_input *in, struct piece rest,
                       struct diagnosis *d)
{
    struct piece shown, under;
    struct match m;
    if (!next_line(&rest, &shown) || !next_line(&rest, &under) ||
        !(match(g, "^( *)\\^--- error here", under, &m) ||
          match(g, "^( *error here ---)\\^", under, &m)))
        return;
    size_t at = m.group[0].len;
    struct piece line = line_at(in, d);
    /* The word at the caret, in the line of the file. */
    if (match(g, "^(\\w+|\\S)", piece_skip(shown, at), &m))
        point_at(in, d, m.group[0]);
    if (!line.at)
        show_line(d, d->location.line, piece_trim(shown));
}

/* SQLite reports the place of a column only sometimes, and never that of a table. The location is
 * then the beginning of the statement, and the name is searched up to its end. */
static void find_name(struct diagnoser *g, const struct diagnose_input *in, struct diagnosis *d)
{
    struct match m;
    const struct source_file *f = find_source(in, piece_of(d->location.file));
    bool column = match(g, "^no such column: ((?:\\w+\\.)?\\w+)$", piece_of(d->message), &m);
    if (!column && !match(g, "^no such table: (?:\\w+\\.)?(\\w+)$", piece_of(d->message), &m))
        return;
    for (uint32_t n = d->location.line; n < d->location.line + LINES_NEAR; n++) {
        struct piece line = source_line(f, n);
        if (!line.at)
            return;
        size_t at = find_word(line, m.group[0]);
        if (at < line.len) {
            if (column && n == d->location.line && d->location.column > at)
                return; /* SQLite's place is right */
            d->location.line = n;
            d->location.column = d->location.end_column = 0;
            point_at(in, d, m.group[0]);
            return;
        }
        if (piece_has(line, ";"))
            return;
    }
}

#define ERROR                                                                        \
    "^(?=.*(?:\\.sql:\\d|\\.csv:\\d|SQLITE_\\w+\\]$))([^\\s:][^:]*):(\\d+):(\\d+): " \
    "error: (.*?)(?: \\[(SQLITE_\\w+)\\])?$"
#define SHELL_ERROR                                                                 \
    "^(?:Parse error|Runtime error|Error)(?:: in \\w+,|:)? near line (\\d+): (.*?)" \
    "(?: \\(\\d+\\))?$"

/* The sqlite3 program goes on after an error. */
static bool next_error(struct diagnoser *g, const struct diagnose_input *in, struct piece *rest,
                       struct further_error *ret)
{
    struct piece line, main_name = piece_of(in->main_name ? in->main_name : "main.sql");
    struct match m;
    while (next_line(rest, &line)) {
        if (match(g, ERROR, line, &m)) {
            (void)set_place(in, &ret->at, m.group[0], m.group[1], m.group[2]);
            COPY(m.group[3], ret->message);
            COPY(m.group[4], ret->type);
            return true;
        }
        if (match(g, SHELL_ERROR, line, &m)) {
            (void)set_place(in, &ret->at, main_name, m.group[0], NO_PIECE);
            COPY(m.group[1], ret->message);
            return true;
        }
    }
    return false;
}

static bool read_sqlite(struct diagnoser *g, const struct diagnose_input *in, struct diagnosis *d)
{
    struct piece rest = text_of(in), line;
    struct match m;
    struct piece main_name = piece_of(in->main_name ? in->main_name : "main.sql");
    for (unsigned n = 0; n < LINES_SEEN && next_line(&rest, &line); n++) {
        if (match(g, ERROR, line, &m)) {
            (void)set_place(in, &d->location, m.group[0], m.group[1], m.group[2]);
            COPY(m.group[3], d->message);
            COPY(m.group[4], d->type);
            point_over_word(in, d);
            find_name(g, in, d);
        } else if (match(g, SHELL_ERROR, line, &m)) {
            (void)set_place(in, &d->location, main_name, m.group[0], NO_PIECE);
            COPY(m.group[1], d->message);
            read_shown(g, in, rest, d);
        } else if (!piece_has(text_of(in), "Execution halted") && /* R prints it too */
                   match(g,
                         "^(?:Error|Parse error|Runtime error): (?:in prepare, |stepping, "
                         ")?(.*?)(?: \\(\\d+\\))?$",
                         line, &m)) {
            COPY(m.group[0], d->message);
        } else {
            continue;
        }
        if (!classify(g, d, rules))
            d->category = CATEGORY_RUNTIME;
        read_further(g, in, next_error, d);
        return true;
    }
    return false;
}

static void advise_sqlite(struct diagnoser *g, const struct diagnose_input *in, struct diagnosis *d)
{
    if (d->category != CATEGORY_SYNTAX || !advise_fence(in, d))
        advise_by(g, in, d, rules);
}

const struct grammar grammar_sqlite = { .name = "sqlite",
                                        .read = read_sqlite,
                                        .advise = advise_sqlite };
