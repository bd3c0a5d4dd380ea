/* SQLite: reads and explains the errors of Belljar's own shell and of the sqlite3 program. Runs in:
 * keeper. */
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "diagnose/sql/sql.h"

/* Functions of other databases, and their form in SQLite. */
static const struct {
    const char *wrong, *right;
} functions[] = {
    { "YEAR", "strftime('%Y', date)" },
    { "MONTH", "strftime('%m', date)" },
    { "DAY", "strftime('%d', date)" },
    { "NOW", "datetime('now')" },
    { "GETDATE", "datetime('now')" },
    { "CURDATE", "date('now')" },
    { "CONCAT", "a || b" },
    { "LEN", "length(text)" },
    { "ISNULL", "ifnull(a, b)" },
    { "NVL", "ifnull(a, b)" },
    { "DATEDIFF", "julianday(a) - julianday(b)" },
    { "DATE_ADD", "date(day, '+1 day')" },
    { "DATE_FORMAT", "strftime(format, date)" },
    { "TO_CHAR", "strftime(format, date)" },
    { "LEFT", "substr(text, 1, n)" },
    { "RIGHT", "substr(text, -n)" },
    { "STRING_AGG", "group_concat(text, ', ')" },
    { "IF", "iif(condition, a, b)" },
    { "RAND", "random()" },
    { "CEIL", "cast(x + 0.999999 as integer)" },
    { "GREATEST", "max(a, b)" },
    { "LEAST", "min(a, b)" },
    { "EXTRACT", "strftime('%Y', date)" },
    { "CHAR_LENGTH", "length(text)" },
};
static const char *const known[] = {
    "count",  "sum",      "avg",       "min",          "max",     "total",
    "length", "substr",   "upper",     "lower",        "trim",    "round",
    "abs",    "coalesce", "ifnull",    "nullif",       "date",    "datetime",
    "time",   "strftime", "julianday", "group_concat", "replace", "instr",
    "printf", "random",   "typeof",    "cast",         "iif",     NULL
};

static void advise_function(const struct advice *a)
{
    for (size_t i = 0; i < ARRAY_LEN(functions); i++)
        if (sql_same(a->m.group[0], functions[i].wrong)) {
            suggest(a->d, 0, 0.9, "SQLite has no %s(): write %s.", functions[i].wrong,
                    functions[i].right);
            (void)snprintf(a->d->docs, sizeof a->d->docs,
                           "https://www.sqlite.org/lang_corefunc.html");
            return;
        }
    advise_nearest(a);
}

#define LANG "https://www.sqlite.org/lang_"

static const struct rule rules[] = {
    ADVISE("no such table: (?:\\w+\\.)?(\\w+)", CATEGORY_NAME, 0, sql_advise_table,
           .docs = LANG "createtable.html"),
    ADVISE("no such column: \"(.+?)\"", CATEGORY_NAME, 0, sql_advise_column),
    ADVISE("no such column: (?:\\w+\\.)?(\\w+)", CATEGORY_NAME, 0, sql_advise_column,
           .docs = LANG "expr.html"),
    ADVISE("has no column named (\\w+)", CATEGORY_NAME, 0, sql_advise_column,
           .docs = LANG "insert.html"),
    ADVISE("no such function: (\\w+)", CATEGORY_NAME, 0, advise_function, .names = known,
           .docs = LANG "corefunc.html"),
    ADVISE("ambiguous column name: (\\w+)", CATEGORY_NAME, 0, sql_advise_ambiguous),
    SAY("(?:table|view|index) (\\S+) already exists", CATEGORY_NAME, 0, 0.9,
        "{1} exists already: CREATE TABLE IF NOT EXISTS keeps it, DROP TABLE IF EXISTS {1} before "
        "it removes it.",
        .docs = LANG "createtable.html"),
    SAY("duplicate column name: (\\w+)", CATEGORY_NAME, 0, 0.85,
        "The column {1} is named twice: remove or rename one."),
    ADVISE("near \"(.*)\": syntax error", CATEGORY_SYNTAX, 0, sql_advise_syntax,
           .docs = LANG "select.html"),
    SAY("incomplete input", CATEGORY_SYNTAX, 0, 0.8,
        "The last statement is not complete: finish it, or close an open bracket or quote."),
    SAY("unrecognized token: (.*)", CATEGORY_SYNTAX, 0, 0.8,
        "A quote there is not closed, or SQL has no {1}: write strings in single quotes."),
    IS("syntax error|unknown or unsupported join|statement does not end", CATEGORY_SYNTAX),
    SAY("UNIQUE constraint failed: (\\S+?)(?:,.*)?$|UNIQUE constraint failed: (\\S+)",
        CATEGORY_VALUE, 0, 0.85,
        "A row with this {1}{2} exists already: change the value, or write INSERT OR IGNORE (keeps "
        "the old row), INSERT OR REPLACE, or ON CONFLICT DO UPDATE.",
        .docs = LANG "upsert.html"),
    SAY("FOREIGN KEY constraint failed", CATEGORY_VALUE, 0, 0.85,
        "The row refers to a parent that does not exist, or other rows refer to the removed one: "
        "insert the parent first, or remove the other rows first.",
        .docs = "https://www.sqlite.org/foreignkeys.html"),
    SAY("NOT NULL constraint failed: (\\w+)\\.(\\w+)", CATEGORY_VALUE, 0, 0.9,
        "Give {2} a value in the INSERT, or a DEFAULT in the table {1}.",
        .docs = LANG "createtable.html#notnullconst"),
    SAY("CHECK constraint failed: (.*)", CATEGORY_VALUE, 0, 0.8,
        "The row does not fit the table's CHECK: {1}.", .docs = LANG "createtable.html#ckconst"),
    SAY("misuse of aggregate(?: function)?:? (\\w+)\\(\\)", CATEGORY_TYPE, 0, 0.9,
        "WHERE chooses rows before they are counted: write the condition on {1}() in HAVING, after "
        "GROUP BY.",
        .docs = LANG "select.html#resultset"),
    SAY("table (\\S+) has (\\d+) columns but (\\d+) values were supplied", CATEGORY_TYPE, 0, 0.9,
        "Name the columns that get the {3} values, INSERT INTO {1} (a, b) VALUES ..., or give all "
        "{2}.",
        .docs = LANG "insert.html"),
    SAY("(\\d+) values for (\\d+) columns", CATEGORY_TYPE, 0, 0.9,
        "Give as many values as columns: {2}, not {1}."),
    SAY("do not have the same number of result columns", CATEGORY_TYPE, 0, 0.85,
        "Both sides must select the same number of columns: add one to the shorter side (NULL will "
        "do).",
        .docs = LANG "select.html#compound"),
    SAY("wrong number of arguments to function (\\w+)", CATEGORY_TYPE, 0, 0.8,
        "{1} takes another number of arguments: check the call.", .docs = LANG "corefunc.html"),
    SAY("datatype mismatch|cannot store (\\w+) value in (\\w+) column", CATEGORY_TYPE, 0, 0.8,
        "The value has another type than the column: an INTEGER PRIMARY KEY holds only whole "
        "numbers.",
        .docs = "https://www.sqlite.org/datatype3.html"),
    SAY("misuse of window function (\\w+)", CATEGORY_TYPE, 0, 0.9,
        "Window functions come after WHERE: select {1}() OVER (...) AS n in a subquery (or WITH), "
        "and filter by n outside of it.",
        .docs = "https://www.sqlite.org/windowfunctions.html"),
    SAY("misuse of aliased aggregate (\\w+)", CATEGORY_TYPE, 0, 0.9,
        "{1} is computed after WHERE: write the condition in HAVING.", .docs = LANG "select.html"),
    SAY("no tables specified", CATEGORY_SYNTAX, 0, 0.8, "Name the table: SELECT ... FROM table."),
    SAY("Cannot add a (NOT NULL column with default value NULL|PRIMARY KEY column|UNIQUE column)",
        CATEGORY_VALUE, 0, 0.8,
        "An existing table cannot get a {1}: give it a DEFAULT, or create the table again.",
        .docs = LANG "altertable.html"),
    SAY("cannot start a transaction within a transaction", CATEGORY_RUNTIME, 0, 0.85,
        "A transaction is open already: COMMIT it before the next BEGIN.",
        .docs = LANG "transaction.html"),
    SAY("cannot (commit|rollback) - no transaction is active", CATEGORY_RUNTIME, 0, 0.85,
        "There is no BEGIN before it: remove it, or begin a transaction.",
        .docs = LANG "transaction.html"),
    IS("misuse|sub-select returns|row value", CATEGORY_TYPE),
    SAY("^SQLITE_CONSTRAINT_TRIGGER", CATEGORY_VALUE, 0, 0.6,
        "A trigger of the script refuses it with RAISE: check the condition of the trigger.",
        .docs = LANG "createtrigger.html"),
    IS("^SQLITE_CONSTRAINT", CATEGORY_VALUE),
    IS("unable to open database|readonly database|disk I/O", CATEGORY_IO),
    IS("out of memory|string or blob too big|too many", CATEGORY_RESOURCE),
    IS("interrupted", CATEGORY_RESOURCE),
    END_OF_RULES,
};

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
