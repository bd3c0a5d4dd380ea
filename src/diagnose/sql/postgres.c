/* PostgreSQL: reads and explains the errors that psql shows. Runs in: keeper. */
#include <stdio.h>
#include <string.h>

#include "base/array.h"
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

static const struct {
    const char *wrong, *right;
} functions[] = {
    { "datediff", "date '2024-01-02' - date '2024-01-01'" },
    { "getdate", "now()" },
    { "ifnull", "coalesce(a, b)" },
    { "isnull", "coalesce(a, b)" },
    { "nvl", "coalesce(a, b)" },
    { "len", "length(text)" },
    { "year", "extract(year from day)" },
    { "month", "extract(month from day)" },
    { "day", "extract(day from day)" },
    { "date_format", "to_char(day, format)" },
    { "strftime", "to_char(day, format)" },
    { "group_concat", "string_agg(text, ', ')" },
    { "curdate", "current_date" },
    { "dateadd", "day + interval '1 day'" },
    { "date_add", "day + interval '1 day'" },
    { "instr", "strpos(text, part)" },
    { "rand", "random()" },
    { "charindex", "strpos(text, part)" },
    { "if", "case when ... then ... else ... end" },
    { "julianday", "a - b" },
    { "last_insert_id", "INSERT ... RETURNING id" },
};

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
    for (size_t i = 0; i < ARRAY_LEN(functions); i++)
        if (sql_same(name, functions[i].wrong)) {
            suggest(a->d, 0, 0.9, "PostgreSQL has no %s(): write %s.", functions[i].wrong,
                    functions[i].right);
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

static const struct {
    const char *wrong, *right;
} types[] = {
    { "datetime", "timestamp" },
    { "datetime2", "timestamp" },
    { "string", "text" },
    { "str", "text" },
    { "nvarchar", "varchar" },
    { "varchar2", "varchar" },
    { "number", "numeric" },
    { "double", "double precision" },
    { "tinyint", "smallint" },
    { "mediumint", "integer" },
    { "blob", "bytea" },
    { "clob", "text" },
    { "longtext", "text" },
    { "mediumtext", "text" },
    { "binary", "bytea" },
    { "varbinary", "bytea" },
    { "uniqueidentifier", "uuid" },
    { "bit1", "boolean" },
    { "autoincrement", "serial" },
    { "long", "bigint" },
    { "object", "jsonb" },
};

static void advise_type(const struct advice *a)
{
    static const char *const usual[] = { "text",    "integer", "bigint",    "numeric",
                                         "boolean", "date",    "timestamp", "timestamptz",
                                         "varchar", "serial",  "jsonb",     "uuid",
                                         "real",    "bytea",   "interval",  "smallint",
                                         NULL };
    struct similar n = { .name = a->m.group[0] };
    similar_try_list(&n, usual);
    for (size_t i = 0; i < ARRAY_LEN(types); i++)
        if (sql_same(a->m.group[0], types[i].wrong))
            COPY(piece_of(types[i].right), n.best);
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

static const struct rule rules[] = {
    ADVISE("column \"?(?:\\w+\\.)?(\\w+)\"? (?:of relation .* )?does not exist", CATEGORY_NAME, 0,
           sql_advise_column),
    ADVISE("relation \"(?:\\w+\\.)?(.+?)\" does not exist", CATEGORY_NAME, 0, sql_advise_table),
    ADVISE("missing FROM-clause entry for table \"(.+?)\"", CATEGORY_NAME, 0, sql_advise_table),
    ADVISE("column reference \"(.+?)\" is ambiguous", CATEGORY_NAME, 0, sql_advise_ambiguous),
    ADVISE("column \"(.+?)\" must appear in the GROUP BY", CATEGORY_TYPE, 0, advise_group,
           .docs = DOC "queries-table-expressions.html#QUERIES-GROUP"),
    SAY("unrecognized configuration parameter \"(?:tables|TABLES)\"", CATEGORY_SYNTAX, 0, 0.9,
        "SHOW TABLES belongs to another database: in PostgreSQL write SELECT table_name FROM "
        "information_schema.tables WHERE table_schema = 'public'."),
    SAY("unrecognized configuration parameter \"(?:databases|DATABASES)\"", CATEGORY_SYNTAX, 0, 0.9,
        "SHOW DATABASES belongs to another database: in PostgreSQL write SELECT datname FROM "
        "pg_database."),
    SAY("window functions are not allowed in (\\w+)", CATEGORY_TYPE, 0, 0.9,
        "Window functions come after {1}: select it AS n in a subquery (or WITH), and filter by n "
        "outside of it.",
        .docs = DOC "tutorial-window.html"),
    SAY("aggregate function calls cannot be nested", CATEGORY_TYPE, 0, 0.85,
        "Aggregates cannot be nested: compute the inner one in a subquery (or WITH), and the outer "
        "one over it."),
    SAY("set-returning functions are not allowed in", CATEGORY_TYPE, 0, 0.8,
        "Put the function into FROM: FROM table, generate_series(...) AS n."),
    SAY("aggregate functions are not allowed in WHERE", CATEGORY_TYPE, 0, 0.9,
        "WHERE chooses rows before they are counted: write conditions on a group in HAVING, after "
        "GROUP BY.",
        .docs = DOC "queries-table-expressions.html#QUERIES-GROUP"),
    SAY("operator does not exist: (.+?) (\\S+) (.+)", CATEGORY_TYPE, 0, 0.85,
        "PostgreSQL does not compare {1} with {3} automatically: convert one side, `value::{1}` or "
        "CAST(value AS {1}).",
        .docs = DOC "typeconv.html"),
    ADVISE("function (\\w+)\\(.*\\) does not exist", CATEGORY_NAME, 0, advise_function,
           .docs = DOC "functions.html"),
    SAY("relation \"(.+?)\" already exists", CATEGORY_NAME, 0, 0.9,
        "{1} exists already: CREATE TABLE IF NOT EXISTS keeps it, DROP TABLE IF EXISTS {1} before "
        "it removes it.",
        .docs = DOC "sql-createtable.html"),
    ADVISE("type \"(\\w+)\" does not exist", CATEGORY_NAME, 0, advise_type,
           .docs = DOC "datatype.html"),
    IS("(?:schema|database|role|sequence|index|constraint) \".*\" (?:does not exist|already "
       "exists)",
       CATEGORY_NAME),
    SAY("VALUES lists must all be the same length", CATEGORY_TYPE, 0, 0.9,
        "All rows of VALUES need the same number of values: correct the row that differs."),
    ADVISE("syntax error at or near \"(.*)\"", CATEGORY_SYNTAX, 0, sql_advise_syntax,
           .docs = DOC "sql-commands.html"),
    SAY("syntax error at end of input|unterminated quoted|unterminated", CATEGORY_SYNTAX, 0, 0.8,
        "The statement is not complete: finish it, or close an open bracket or quote."),
    IS("syntax error|^42601: (?!INSERT has)", CATEGORY_SYNTAX),
    SAY("duplicate key value violates unique constraint \"(.+?)\"", CATEGORY_VALUE, 0, 0.85,
        "A row with this value exists already ({1}): change it, or write ON CONFLICT DO NOTHING or "
        "ON CONFLICT (...) DO UPDATE.",
        .docs = DOC "sql-insert.html#SQL-ON-CONFLICT"),
    SAY("insert or update on table \"(.+?)\" violates foreign key constraint", CATEGORY_VALUE, 0,
        0.8, "The row of {1} refers to a row that does not exist: insert that row first."),
    SAY("update or delete on table \"(.+?)\" violates foreign key constraint .* on table \"(.+?)\"",
        CATEGORY_VALUE, 0, 0.85,
        "Rows of {2} refer to it: delete them first, or declare the key ON DELETE CASCADE."),
    SAY("null value in column \"(.+?)\" of relation \"(.+?)\"", CATEGORY_VALUE, 0, 0.9,
        "Give {1} a value in the INSERT, or a DEFAULT in the table {2}."),
    SAY("new row for relation \"(.+?)\" violates check constraint \"(.+?)\"", CATEGORY_VALUE, 0,
        0.8, "The row does not fulfil the CHECK {2} of {1}: change its values.",
        .docs = DOC "ddl-constraints.html"),
    SAY("division by zero", CATEGORY_VALUE, 15, 0.9,
        "Divide by NULLIF(divisor, 0): the result is NULL where the divisor is 0.",
        .docs = DOC "functions-conditional.html"),
    SAY("invalid input syntax for type (.+?): (\".*\")", CATEGORY_VALUE, 0, 0.85,
        "{2} is not a value of type {1}: write a value of that type, or use a column of type "
        "text."),
    SAY("value too long for type (.+)", CATEGORY_VALUE, 0, 0.85,
        "The text does not fit {1}: shorten it, or use text."),
    SAY("invalid input value for enum (\\S+): (\".*\")", CATEGORY_VALUE, 0, 0.8,
        "{2} is not among the values of {1}: use one of them, or add it."),
    SAY("^22003: (integer|smallint|bigint) out of range", CATEGORY_VALUE, 0, 0.85,
        "The result does not fit {1}: use bigint (numeric is unlimited), `value::bigint`, or ALTER "
        "the column's type.",
        .docs = DOC "datatype-numeric.html"),
    SAY("numeric field overflow", CATEGORY_VALUE, 0, 0.8,
        "numeric(p, s) has p digits, s of them after the point, and the value has more before it: "
        "use a larger p.",
        .docs = DOC "datatype-numeric.html"),
    SAY("date/time field value out of range: (\".*\")", CATEGORY_VALUE, 0, 0.8,
        "The day {1} does not exist: write dates as 'YYYY-MM-DD'.",
        .docs = DOC "datatype-datetime.html"),
    SAY("invalid input syntax for type json", CATEGORY_VALUE, 0, 0.85,
        "The text is not JSON: names and strings need double quotes, '{\"name\": \"value\"}'.",
        .docs = DOC "datatype-json.html"),
    SAY("violates exclusion constraint \"(.+?)\"", CATEGORY_VALUE, 0, 0.8,
        "An existing row conflicts with it ({1}): change one of them."),
    IS("out of range|invalid (?:byte|value|regular|date)|^22", CATEGORY_VALUE),
    SAY("INSERT has (more|fewer) (expressions|target columns) than", CATEGORY_TYPE, 0, 0.85,
        "Give one value for each named column."),
    SAY("column \"(.+?)\" is of type (.+?) but expression is of type (.+)", CATEGORY_TYPE, 0, 0.85,
        "{1} has the type {2}, and this is {3}: give it a {2} (value::{2}, if it can be "
        "converted).",
        .docs = DOC "typeconv.html"),
    SAY("each UNION query must have the same number", CATEGORY_TYPE, 0, 0.85,
        "Both sides must select the same number of columns: add one to the shorter side (NULL will "
        "do)."),
    SAY("more than one row returned by a subquery", CATEGORY_VALUE, 0, 0.85,
        "Write IN (...) for several values, or LIMIT 1 for one."),
    SAY("current transaction is aborted", CATEGORY_RUNTIME, 0, 0.8,
        "An earlier statement of the transaction failed: correct the first error; ROLLBACK ends "
        "the transaction."),
    IS("permission denied|must be (?:superuser|owner)|^42501", CATEGORY_PERMISSION),
    IS("^42(?:804|846|P18|883|803)|cannot cast|types .* cannot be matched", CATEGORY_TYPE),
    IS("could not open file|^58", CATEGORY_IO),
    IS("^23", CATEGORY_VALUE),
    IS("^42", CATEGORY_TYPE),
    IS("^53|^57014|statement timeout|stack depth", CATEGORY_RESOURCE),
    SAY("^P0001: ", CATEGORY_RUNTIME, 0, 0.5,
        "The script itself raises this with RAISE EXCEPTION: check the arguments of the function.",
        .docs = DOC "plpgsql-errors-and-messages.html"),
    IS("^P0004", CATEGORY_ASSERTION),
    SAY("query has no destination for result data", CATEGORY_SYNTAX, 0, 0.9,
        "In PL/pgSQL a SELECT needs a place for its result: write SELECT ... INTO variable, or "
        "PERFORM ... to discard it."),
    SAY("control reached end of function without RETURN", CATEGORY_SYNTAX, 0, 0.9,
        "Every path through the function must end in a RETURN: add one before END."),
    SAY("query returned no rows", CATEGORY_VALUE, 0, 0.8,
        "INTO STRICT needs exactly one row: remove STRICT, and test IF NOT FOUND."),
    SAY("\"(\\w+)\" is not a known variable", CATEGORY_NAME, 0, 0.85,
        "The variable is not declared: declare {1} between DECLARE and BEGIN."),
    END_OF_RULES,
};

static const struct {
    const char *message, *state;
} states[] = {
    { "relation \".*\" does not exist", "42P01" },
    { "column .* does not exist", "42703" },
    { "syntax error", "42601" },
    { "duplicate key value", "23505" },
    { "violates foreign key", "23503" },
    { "null value in column", "23502" },
    { "violates check constraint", "23514" },
    { "division by zero", "22012" },
    { "must appear in the GROUP BY", "42803" },
    { "is ambiguous", "42702" },
    { "invalid input syntax", "22P02" },
    { "relation \".*\" already exists", "42P07" },
    { "(?:operator|function) .*does not exist", "42883" },
};

/* psql shows the state only with VERBOSITY verbose. */
static void state_by_message(struct diagnoser *g, struct diagnosis *d)
{
    struct match m;
    for (size_t i = 0; !d->type[0] && i < ARRAY_LEN(states); i++)
        if (match(g, states[i].message, piece_of(d->message), &m))
            COPY(piece_of(states[i].state), d->type);
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

/* Twice a small limit is not enough for a server. */
static const struct {
    const char *words, *advice;
} starts[] = {
    { "error: the disk limit is too small for a PostgreSQL server",
      "The files of a PostgreSQL server take 16 MiB: --disk 24m or more on the command line, "
      "\"limits\": {\"disk\": 25165824} in a request. SQLite needs no server." },
    { "error: the files limit is too small for a PostgreSQL server",
      "A PostgreSQL server has about 550 files: --files 1000 or more on the command line, "
      "\"limits\": {\"files\": 1000} in a request. SQLite needs no server." },
};

static void advise_start(const struct diagnose_input *in, struct diagnosis *d)
{
    for (size_t i = 0; i < ARRAY_LEN(starts); i++)
        if (starts_with(text_of(in), starts[i].words))
            suggest(d, 40, 0.95, "%s", starts[i].advice);
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
