/* Rules that SQLite and PostgreSQL share. Runs in: keeper. */
#include "diagnose/sql/sql.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "diagnose/sql.words.h" /* generated */

bool sql_same(struct piece a, const char *b)
{
    return a.at && a.len == strlen(b) && strncasecmp(piece_bytes(a), b, a.len) == 0;
}

enum { NAMED_TABLE = 1, NAMED_COLUMN = 2 };

static bool is_keyword(struct piece word)
{
    for (const char *const *w = keywords; *w; w++)
        if (sql_same(word, *w))
            return true;
    return false;
}

/* Offers the names that the job's CREATE statements define. */
static void try_created(const struct advice *a, struct similar *n, unsigned kinds)
{
    for (size_t i = 0; i < a->in->n_sources; i++) {
        struct piece rest = text_of_source(&a->in->sources[i]), line;
        struct match m;
        bool inside = false;
        while (next_line(&rest, &line)) {
            struct piece columns = line;
            if (match(a->g,
                      "(?i)\\bcreate\\s+(?:temp\\w*\\s+)?(?:table|view)\\s+(?:if\\s+not\\s+"
                      "exists\\s+)?[\"`]?(\\w+)[\"`]?(.*)$",
                      line, &m)) {
                if (kinds & NAMED_TABLE)
                    similar_try(n, m.group[0]);
                columns = m.group[1];
                inside = true;
            }
            /* A column: the first word after '(' or ',' or of a line of its own. */
            for (unsigned k = 0;
                 inside && kinds & NAMED_COLUMN && k < 64 &&
                 match(a->g, "(?:^|[(,])\\s*\"?([A-Za-z_]\\w*)\"?\\s+[A-Za-z]", columns, &m);
                 k++) {
                if (!is_keyword(m.group[0]))
                    similar_try(n, m.group[0]);
                columns = piece_after(columns, m.group[0]);
            }
            if (piece_has(line, ";"))
                inside = false;
        }
    }
}

static bool advise_created(const struct advice *a, struct piece name, unsigned kinds,
                           const char *what)
{
    struct similar n = { .name = name };
    try_created(a, &n, kinds);
    if (!n.best[0])
        return false;
    suggest(a->d, 0, 0.9, "Did you mean the %s `%s`? There is no `%.*s`.", what, n.best, P(name));
    (void)suggest_swap(a->in, a->d, name, n.best);
    return true;
}

/* The hint of the database itself: "hint: did you mean "users"?", "HINT:  Perhaps you meant the
 * table "users"." */
static bool advise_hint(const struct advice *a, struct piece name)
{
    struct match m;
    char best[128];
    if (!match_text(a->g,
                    "^(?i:hint): +(?:did you mean|Perhaps you meant[^\"]*) \"(?:\\w+\\.)?(\\w+)\"",
                    text_of(a->in), &m))
        return false;
    COPY(m.group[0], best);
    struct match c;
    if (piece_same(piece_of(best), name) &&
        match(a->g, "(\\w+)\\.\"?\\w+\"?(?:$| does)", a->message, &c)) {
        suggest(a->d, 0, 0.9,
                "`%.*s` is a column, but `%.*s` does not have it or is not a table of this "
                "statement: check the names after FROM and JOIN.",
                P(name), P(c.group[0]));
        return true;
    }
    if (!piece_same(piece_of(best), name) && strlen(best) == name.len &&
        strncasecmp(best, piece_bytes(name), name.len) == 0) {
        char quoted[132];
        (void)snprintf(quoted, sizeof quoted, "\"%s\"", best);
        suggest(a->d, 0, 0.95,
                "Names without quotes are read in lower case: write %s, with the quotes.", quoted);
        if (!suggest_swap(a->in, a->d, name, quoted))
            (void)suggest_swap(a->in, a->d, piece_of(best), quoted);
        return true;
    }
    suggest(a->d, 0, 0.92, "Did you mean `%s`? There is no `%.*s`.", best, P(name));
    (void)suggest_swap(a->in, a->d, name, best);
    return true;
}

void sql_advise_table(const struct advice *a)
{
    struct piece name = a->m.group[0];
    point_at(a->in, a->d, name);
    if (advise_hint(a, name) || advise_created(a, name, NAMED_TABLE, "table"))
        return;
    for (size_t i = 0; i < a->in->n_sources; i++) {
        const char *csv = a->in->sources[i].name;
        struct piece file = piece_of(csv);
        size_t dot = piece_find(file, ".csv");
        if (dot < file.len && piece_same(piece_cut(file, dot), name)) {
            suggest(a->d, 0, 0.93,
                    "CSV files in fixtures/ become tables: send %s as fixtures/%s (--file "
                    "%s:fixtures/%s, its name in \"files\" of a request).",
                    csv, csv, csv, csv);
            return;
        }
    }
    suggest(a->d, 0, 0.6,
            "Create the table `%.*s` before it is used (CREATE TABLE %.*s (...)), or send the "
            "script that creates it.",
            P(name), P(name));
}

void sql_advise_column(const struct advice *a)
{
    struct piece name = a->m.group[0], line = a->line;
    char quoted[130], single[130];
    (void)snprintf(quoted, sizeof quoted, "\"%.*s\"", P(piece_cut(name, 120)));
    (void)snprintf(single, sizeof single, "'%.*s'", P(piece_cut(name, 120)));
    if (line.at && piece_has(line, quoted)) {
        suggest(a->d, 0, 0.92, "Double quotes are for names: write a string in single quotes, %s.",
                single);
        (void)suggest_swap(a->in, a->d, piece_of(quoted), single);
        return;
    }
    point_at(a->in, a->d, name);
    if (advise_hint(a, name) || advise_created(a, name, NAMED_COLUMN, "column"))
        return;
    suggest(a->d, 0, 0.5,
            "No table in the FROM has a column `%.*s`: check the name, or write a string in single "
            "quotes, %s.",
            P(name), single);
}

void sql_advise_ambiguous(const struct advice *a)
{
    struct piece name = a->m.group[0], line = a->line;
    struct match c;
    char full[140];
    const struct source_file *f = a->file;
    uint32_t last = a->d->location.line + BLANKS_NEAR; /* FROM may be lines below */
    for (uint32_t n = a->d->location.line; line.at && n < last; n++) {
        line = source_line(f, n);
        if (match(a->g, "(?i)\\bfrom\\b|;", line, &c))
            break;
    }
    if (match(a->g,
              "(?i)\\bfrom\\s+(\\w+)(?:\\s+(?:as\\s+)?(?!join\\b|inner\\b|left\\b|cross\\b|on\\b|"
              "natural\\b|right\\b|full\\b)(\\w+))?",
              line, &c)) {
        struct piece from = c.group[1].at ? c.group[1] : c.group[0];
        (void)snprintf(full, sizeof full, "%.*s.%.*s", P(piece_cut(from, 60)),
                       P(piece_cut(name, 60)));
        suggest(a->d, 0, 0.9, "More than one of the tables has `%.*s`: name the table, `%s`.",
                P(name), full);
        (void)suggest_swap(a->in, a->d, name, full);
        return;
    }
    suggest(a->d, 0, 0.8, "More than one of the tables has `%.*s`: write table.%.*s.", P(name),
            P(name));
}

/* A word is misspelt when it is similar to a word of SQL and is not one itself. */
static bool advise_word(const struct advice *a, struct piece near)
{
    struct similar n = { .name = near };
    char upper[40];
    if (near.len < 3 || near.len >= sizeof upper)
        return false;
    COPY(near, upper);
    for (char *c = upper; *c; c++)
        *c = *c >= 'a' && *c <= 'z' ? (char)(*c - 32) : *c;
    n.name = piece_of(upper);
    if (piece_among(n.name, words))
        return false;
    similar_try_list(&n, words);
    if (!n.best[0])
        return false;
    suggest(a->d, 0, 0.9, "Did you mean `%s`? SQL has no `%.*s`.", n.best, P(near));
    (void)suggest_swap(a->in, a->d, near, n.best);
    return true;
}

/* The words of the line before the place where the parser gave up: "SELECT a FORM t" stops at t. */
static bool advise_words_before(const struct advice *a)
{
    struct piece line = a->line;
    struct match m;
    size_t end = a->d->location.column > 0 ? a->d->location.column - 1 : line.len;
    for (unsigned i = 0; line.at && i < 64 && match(a->g, "\\b([A-Za-z]\\w*)\\b", line, &m); i++) {
        size_t skip = piece_end(line, m.all);
        if (skip > end)
            return false;
        end -= skip;
        /* An ordinary name may be similar to a word of SQL: only words in upper case count. */
        if (m.all.len >= 4 && piece_byte(m.all, 0) >= 'A' && piece_byte(m.all, 0) <= 'Z' &&
            piece_byte(m.all, 1) <= 'Z' && advise_word(a, m.all))
            return true;
        line = piece_skip(line, skip);
    }
    return false;
}

/* A list of columns whose line before ends without a comma, or a comma before ')'. */
static bool advise_comma(const struct advice *a, struct piece near)
{
    const struct source_file *f = a->file;
    struct piece line = a->line, before = source_line(f, a->d->location.line - 1);
    struct match m;
    if (starts_with(near, ")") && match(a->g, ",\\s*$", before, &m)) {
        suggest(a->d, 0, 0.9, "The comma at the end of line %u has nothing after it: remove it.",
                a->d->location.line - 1);
        return true;
    }
    if (starts_with(near, ")") && line.at && match(a->g, "^(.*?),(\\s*\\).*)$", line, &m)) {
        suggest(a->d, 0, 0.9, "The comma before `)` has nothing after it: remove it.");
        suggest_replacement(a->d, "%.*s%.*s", P(m.group[0]), P(m.group[1]));
        return true;
    }
    /* Two lines of a list of columns, "name type". */
    if (!match(a->g, "^\\s+\\w+ \\w[^,;]*[^,;(\\s]\\s*$", before, &m) ||
        !match(a->g, "^\\s+\\w+ \\w+", line, &m))
        return false;
    suggest(a->d, 0, 0.8, "Line %u has no comma at its end: add it.", a->d->location.line - 1);
    return true;
}

static bool advise_dialect(const struct advice *a, struct piece near)
{
    bool sqlite = a->in->grammar && strcmp(a->in->grammar, "sqlite") == 0;
    struct piece line = a->line;
    for (size_t i = 0; i < ARRAY_LEN(dialects); i++) {
        if (!sql_same(near, dialects[i].word) ||
            strcmp(sqlite ? dialects[i].sqlite : dialects[i].postgres, dialects[i].word) == 0)
            continue;
        /* Every SQL has OR; only after INSERT is it SQLite's. */
        struct match m;
        if (strcmp(dialects[i].word, "OR") == 0 && !match(a->g, "(?i)insert\\s+or\\b", line, &m))
            continue;
        suggest(a->d, 0, 0.9, "%s belongs to another database: %s has %s.", dialects[i].word,
                sqlite ? "SQLite" : "PostgreSQL",
                sqlite ? dialects[i].sqlite : dialects[i].postgres);
        return true;
    }
    return false;
}

/* The text before the location, in its line or a line above; empty at the beginning of the file. */
static struct piece before_place(const struct advice *a, uint32_t *ret_line)
{
    const struct source_file *f = a->file;
    struct piece line = a->line;
    uint32_t n = a->d->location.line;
    line = piece_before(line, a->d->location.column);
    for (unsigned i = 0; i < BLANKS_NEAR && piece_trim(line).len == 0 && n > 1; i++)
        line = source_line(f, --n);
    *ret_line = n;
    return piece_trim(line);
}

/* "SELECT a, b, FROM t"; "VALUES (1) (2)". */
static bool advise_comma_before(const struct advice *a, struct piece near)
{
    uint32_t n = 0;
    struct piece before = before_place(a, &n);
    static const char *const enders[] = { "FROM", "WHERE", "GROUP", "ORDER", "HAVING", ";", NULL };
    bool ends = false;
    for (const char *const *w = enders; *w; w++)
        ends |= sql_same(near, *w);
    if (before.len == 0)
        return false;
    char last = piece_last(before);
    int open = 0;
    for (size_t i = 0; i < before.len; i++)
        open += (piece_byte(before, i) == '(') - (piece_byte(before, i) == ')');
    if (ends && last != ',' && open > 0) {
        suggest(a->d, 0, 0.85, "A `(` on line %u is not closed before `%.*s`: add `)`.", n,
                P(near));
        return true;
    }
    if (ends && last == ',') {
        suggest(a->d, 0, 0.92, "The comma before `%.*s` (line %u) has nothing after it: remove it.",
                P(near), n);
        return true;
    }
    if (piece_is(near, "(") && last == ')') {
        suggest(a->d, 0, 0.88, "A comma is missing after the `)` on line %u: add it.", n);
        return true;
    }
    return false;
}

/* ELSE IF begins another IF. */
static bool advise_else_if(const struct advice *a)
{
    const struct source_file *f = a->file;
    struct match m;
    for (uint32_t n = a->d->location.line; n > 0 && n + LINES_NEAR > a->d->location.line; n--) {
        struct piece line = source_line(f, n);
        if (match(a->g, "(?i)\\belse\\s+if\\b", line, &m)) {
            suggest(a->d, 0, 0.85,
                    "`ELSE IF` on line %u begins another IF, which needs an END IF of its own: "
                    "write ELSIF.",
                    n);
            return true;
        }
        if (match(a->g, "(?i)^\\s*create\\b", line, &m))
            return false;
    }
    return false;
}

static bool advise_order(const struct advice *a, struct piece near)
{
    static const char *const clauses[] = { "WHERE", "GROUP", "HAVING", "ORDER", "FROM",
                                           "JOIN",  "INNER", "LEFT",   "LIMIT", NULL };
    struct match m;
    if (match(a->g,
              "(?i)\\b(?:CREATE TABLE(?: IF NOT EXISTS)?|INTO|UPDATE|FROM|JOIN|ALTER TABLE|DROP "
              "TABLE)\\s+(\\w+)",
              a->line, &m) &&
        piece_same(m.group[0], near)) {
        suggest(a->d, 3, 0.93,
                "`%.*s` is a word of SQL itself: use another name, or write it in double quotes, "
                "\"%.*s\".",
                P(near), P(near));
        return true;
    }
    for (const char *const *w = clauses; *w; w++)
        if (sql_same(near, *w)) {
            suggest(a->d, 0, 0.75,
                    "%s is in the wrong place: the parts of a SELECT come in the order FROM, JOIN "
                    "... ON, WHERE, GROUP BY, HAVING, ORDER BY, LIMIT, each once.",
                    *w);
            return true;
        }
    return false;
}

/* Slips that the shape of the line shows. */
static bool advise_shape(const struct advice *a, struct piece near)
{
    static const struct {
        const char *pattern, *text;
    } shapes[] = {
        { "(?i)\\bGROUP\\s+(?!BY\\b)\\w+", "The word BY is missing: GROUP BY." },
        { "(?i)\\bORDER\\s+(?!BY\\b)\\w+", "The word BY is missing: ORDER BY." },
        { "(?i)^\\s*DELETE\\s+(?!FROM\\b)\\w+", "The word FROM is missing: DELETE FROM." },
        { "(?i)^\\s*INSERT\\s+(?!INTO\\b|OR\\b)\\w+", "The word INTO is missing: INSERT INTO." },
        { "(?i)^\\s*UPDATE\\s+\\w+\\s+(?!SET\\b|AS\\b)\\w+\\s*=",
          "The word SET is missing: UPDATE name SET ..." },
        { ",\\s*\\)", "A comma stands before the `)`, and nothing follows it: remove it." },
        { "(?:=|<|>|\\bAND|\\bOR|\\bLIKE|\\bIN)\\s*(?:;|$)",
          "A value is missing at the end of the condition." },
        { "==\\s*$|!==|===", "SQL compares with = and <>." },
        { "(?i)\\bSELECT\\b(?!.*\\bFROM\\b).*\\bWHERE\\b",
          "The FROM with the table is missing before WHERE." },
    };
    struct match m;
    struct piece rest = a->line;
    while (rest.len > 0 &&
           match(a->g,
                 "(?i)\\b(?:KEY|INTEGER|INT|TEXT|REAL|NUMERIC|NULL|UNIQUE|\\d\\)|AUTOINCREMENT)\\s+"
                 "(\\w+)\\s+(?:INTEGER|INT|TEXT|REAL|NUMERIC|VARCHAR|DATE|BLOB|CHAR|BOOLEAN)\\b",
                 rest, &m)) {
        if (piece_same(m.group[0], near)) {
            suggest(a->d, 18, 0.93, "A comma is missing before the column `%.*s`: add it.",
                    P(near));
            return true;
        }
        rest = piece_after(rest, m.group[0]);
    }
    for (size_t i = 0; near.at && i < ARRAY_LEN(shapes); i++)
        if (match(a->g, shapes[i].pattern, a->line, &m)) {
            suggest(a->d, 17, 0.9, "%s", shapes[i].text);
            return true;
        }
    return false;
}

void sql_advise_syntax(const struct advice *a)
{
    struct piece near = a->m.group[0], line = a->line;
    size_t column = a->d->location.column;
    if (column > 2 && piece_at(line, column - 1) == '\'' && piece_at(line, column - 2) != ' ' &&
        piece_at(line, column - 2) != '(') {
        suggest(a->d, 0, 0.85,
                "The quote before `%.*s` ends the string: write it twice inside a string, ''.",
                P(near));
        suggest_replacement(a->d, "%.*s'%.*s", P(piece_before(line, column)),
                            P(piece_from(line, column)));
        return;
    }
    if (near.at && advise_dialect(a, near))
        return;
    if (near.at && advise_word(a, near))
        return;
    if (near.at &&
        (advise_comma_before(a, near) || (a->d->location.line > 1 && advise_comma(a, near))))
        return;
    if (advise_words_before(a) || advise_else_if(a))
        return;
    if (near.at && advise_order(a, near))
        return;
    if (near.at && advise_shape(a, near))
        return;
    if (near.at)
        suggest(a->d, 0, 0.4,
                "The statement cannot be parsed from `%.*s` on: check the word, comma or bracket "
                "before it.",
                P(near));
}
