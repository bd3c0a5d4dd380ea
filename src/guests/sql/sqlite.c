/* guests/sql/sqlite.c — guest-sqlite: runs an SQLite script, statement by statement, in a database
 * in memory. Runs in: a jar. */
#include <ctype.h>
#include <math.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "base/auto.h"
#include "base/nearest.h"
#include "guests/sql/split.h"
#include "guests/sql/sql_shell.h"
#include "guests/sql/sqlite_image.h"

struct sqlite_session {
    struct shell shell;
    sqlite3 *db;
};

/* ---- errors ---- */

/* Names in sqlite3.h of the codes that people meet. */
static const char *code_name(int code)
{
    static const struct {
        int code;
        const char *name;
    } names[] = {
        { SQLITE_ERROR, "SQLITE_ERROR" },
        { SQLITE_BUSY, "SQLITE_BUSY" },
        { SQLITE_LOCKED, "SQLITE_LOCKED" },
        { SQLITE_NOMEM, "SQLITE_NOMEM" },
        { SQLITE_READONLY, "SQLITE_READONLY" },
        { SQLITE_IOERR, "SQLITE_IOERR" },
        { SQLITE_CORRUPT, "SQLITE_CORRUPT" },
        { SQLITE_FULL, "SQLITE_FULL" },
        { SQLITE_CANTOPEN, "SQLITE_CANTOPEN" },
        { SQLITE_TOOBIG, "SQLITE_TOOBIG" },
        { SQLITE_CONSTRAINT, "SQLITE_CONSTRAINT" },
        { SQLITE_MISMATCH, "SQLITE_MISMATCH" },
        { SQLITE_RANGE, "SQLITE_RANGE" },
        { SQLITE_NOTADB, "SQLITE_NOTADB" },
        { SQLITE_AUTH, "SQLITE_AUTH" },
        { SQLITE_CONSTRAINT_CHECK, "SQLITE_CONSTRAINT_CHECK" },
        { SQLITE_CONSTRAINT_FOREIGNKEY, "SQLITE_CONSTRAINT_FOREIGNKEY" },
        { SQLITE_CONSTRAINT_NOTNULL, "SQLITE_CONSTRAINT_NOTNULL" },
        { SQLITE_CONSTRAINT_PRIMARYKEY, "SQLITE_CONSTRAINT_PRIMARYKEY" },
        { SQLITE_CONSTRAINT_TRIGGER, "SQLITE_CONSTRAINT_TRIGGER" },
        { SQLITE_CONSTRAINT_UNIQUE, "SQLITE_CONSTRAINT_UNIQUE" },
        { SQLITE_CONSTRAINT_ROWID, "SQLITE_CONSTRAINT_ROWID" },
        { SQLITE_CONSTRAINT_DATATYPE, "SQLITE_CONSTRAINT_DATATYPE" },
    };
    const char *plain = "SQLITE_ERROR";
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        if (names[i].code == code)
            return names[i].name;
        if (names[i].code == (code & 0xff))
            plain = names[i].name;
    }
    return plain;
}

/* Offers the first column of every row as a possible name. */
static void offer_names(sqlite3 *db, const char *query, struct nearest *n)
{
    sqlite3_stmt *s = NULL;
    if (sqlite3_prepare_v2(db, query, -1, &s, NULL) == SQLITE_OK)
        while (sqlite3_step(s) == SQLITE_ROW) {
            const char *name = (const char *)sqlite3_column_text(s, 0);
            if (name)
                nearest_offer(n, name);
        }
    (void)sqlite3_finalize(s);
}

/* The last word of a message is its subject; in "no such column: u.nmae" it is nmae. */
static void hint_at_name(sqlite3 *db, const char *message)
{
    static const struct {
        const char *begins, *query;
    } kinds[] = {
        { "no such table: ", "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view')" },
        { "no such column: ",
          "SELECT c.name FROM sqlite_schema AS s, pragma_table_info(s.name) AS c" },
        { "no such function: ", "SELECT DISTINCT name FROM pragma_function_list" },
    };
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        if (strncmp(message, kinds[i].begins, strlen(kinds[i].begins)) != 0)
            continue;
        const char *name = message + strlen(kinds[i].begins);
        const char *dot = strrchr(name, '.');
        struct nearest n = { .wanted = dot ? dot + 1 : name };
        offer_names(db, kinds[i].query, &n);
        if (n.name[0])
            (void)fprintf(stderr, "hint: did you mean \"%s\"?\n", n.name);
    }
}

static void hint(sqlite3 *db, const char *message, const struct script *s, size_t offset)
{
    hint_at_name(db, message);
    if (strcmp(message, "incomplete input") == 0)
        (void)fprintf(stderr, "hint: the last statement does not end: a quote, a parenthesis or an "
                              "END may be missing\n");
    if (strncmp(message, "unrecognized token: ", 20) == 0 && strchr("'\"`[", message[21]))
        (void)fprintf(stderr, "hint: the quote that opens here is not closed\n");
    if (offset < s->n && s->text[offset] == '.')
        (void)fprintf(
            stderr,
            "hint: commands that begin with a dot belong to the sqlite3 program and are not SQL\n");
}

/* Always -1. */
static int fail_at(struct sqlite_session *session, const struct script *s, size_t offset)
{
    sqlite3 *db = session->db;
    char head[48], below[48];
    autofree char *message = strdup(sqlite3_errmsg(db));
    const char *words = message ? message : "no memory";
    for (char *c = message; c && *c; c++) /* a message is one line */
        *c = *c == '\n' || *c == '\r' ? ' ' : *c;
    struct where w = where_at(s, offset);
    (void)fflush(stdout);
    (void)fprintf(stderr, "%s:%zu:%zu: error: %s [%s]\n", s->name, w.line, w.column, words,
                  code_name(sqlite3_extended_errcode(db)));
    sql_session_error(session->shell.tables, code_name(sqlite3_extended_errcode(db)), words);
    int n = snprintf(head, sizeof head, "%5zu | ", w.line);
    (void)snprintf(below, sizeof below, "%*s| ", n - 2, "");
    where_show(stderr, s, offset, head, below);
    hint(db, words, s, offset);
    return -1;
}

static int fail_words(struct sqlite_session *session, const struct script *s, size_t offset,
                      const char *words)
{
    struct where w = where_at(s, offset);
    (void)fflush(stdout);
    (void)fprintf(stderr, "%s:%zu:%zu: error: %s\n", s->name, w.line, w.column, words);
    sql_session_error(session->shell.tables, "SQLITE_ERROR", words);
    return -1;
}

/* ---- results ---- */

/* The shortest text that gives the same number back, and never looks like an integer: 1.0. */
static size_t real_text(double v, char out[40])
{
    if (isnan(v) || isinf(v))
        return (size_t)snprintf(out, 40, "%s", v > 0 ? "Inf" : "-Inf");
    size_t n = 0;
    for (int precision = 15; precision <= 17; precision++) {
        n = (size_t)snprintf(out, 40, "%.*g", precision, v);
        if (strtod(out, NULL) == v) /* NOLINT: exact equality is intended */
            break;
    }
    if (!strpbrk(out, ".e"))
        n += (size_t)snprintf(out + n, 40 - n, ".0");
    return n;
}

struct sqlite_row {
    struct cell *cells;
    char (*reals)[40];
    char **types; /* of values, if the table declares none; NULL: not known yet */
    struct column *columns;
    size_t n;
};

static void row_done(struct sqlite_row *r)
{
    for (size_t i = 0; r->types && i < r->n; i++)
        free(r->types[i]);
    free(r->types);
    free(r->cells);
    free(r->reals);
    free(r->columns);
}

static int row_init(struct sqlite_row *r, sqlite3_stmt *stmt)
{
    size_t n = (size_t)sqlite3_column_count(stmt);
    *r = (struct sqlite_row){ .n = n,
                              .cells = calloc(n + 1, sizeof *r->cells),
                              .reals = calloc(n + 1, sizeof *r->reals),
                              .types = calloc(n + 1, sizeof *r->types),
                              .columns = calloc(n + 1, sizeof *r->columns) };
    if (!r->cells || !r->reals || !r->types || !r->columns)
        return -1;
    for (size_t i = 0; i < n; i++) {
        const char *name = sqlite3_column_name(stmt, (int)i);
        const char *type = sqlite3_column_decltype(stmt, (int)i);
        r->columns[i] = (struct column){ name ? name : "", NULL };
        if (type && !(r->types[i] = strdup(type)))
            return -1;
    }
    return 0;
}

static void take_cell(struct sqlite_row *r, sqlite3_stmt *stmt, int i)
{
    static const char *const types[] = { [SQLITE_INTEGER] = "integer",
                                         [SQLITE_FLOAT] = "real",
                                         [SQLITE_TEXT] = "text",
                                         [SQLITE_BLOB] = "blob" };
    static const enum cell_kind kinds[] = { [SQLITE_INTEGER] = CELL_INTEGER,
                                            [SQLITE_FLOAT] = CELL_REAL,
                                            [SQLITE_TEXT] = CELL_TEXT,
                                            [SQLITE_BLOB] = CELL_BLOB,
                                            [SQLITE_NULL] = CELL_NULL };
    int type = sqlite3_column_type(stmt, i);
    struct cell *c = &r->cells[i];
    if (type != SQLITE_NULL && !r->types[i])
        r->types[i] = strdup(types[type]);
    *c = (struct cell){ .kind = kinds[type] };
    if (type == SQLITE_FLOAT) {
        c->bytes = r->reals[i];
        c->n = real_text(sqlite3_column_double(stmt, i), r->reals[i]);
    } else if (type == SQLITE_BLOB) {
        c->bytes = sqlite3_column_blob(stmt, i);
    } else if (type != SQLITE_NULL) {
        c->bytes = (const char *)sqlite3_column_text(stmt, i);
    }
    if (type != SQLITE_FLOAT && type != SQLITE_NULL)
        c->n = (size_t)sqlite3_column_bytes(stmt, i);
    if (!c->bytes)
        c->n = 0;
}

/* Steps to the end. Returns SQLite's last result code, or -1 after our own failure, with a
 * message. */
static int step_rows(struct shell *s, sqlite3_stmt *stmt, struct sqlite_row *r, bool shown)
{
    struct err e;
    int rc;
    while ((rc = sqlite3_step(stmt)) == SQLITE_ROW) {
        if (!shown || r->n == 0)
            continue;
        for (int i = 0; i < (int)r->n; i++)
            take_cell(r, stmt, i);
        if (shell_row(s, r->cells, r->n, &e)) {
            (void)fprintf(stderr, "error: %s\n", e.text);
            return -1;
        }
    }
    return rc;
}

static int end_result(struct shell *s, struct sqlite_row *r, size_t line)
{
    struct err e = { 0 };
    for (size_t i = 0; i < r->n; i++)
        r->columns[i].type = r->types[i] ? r->types[i] : "null";
    if (shell_result_end(s, r->columns, r->n, line, &e) == 0)
        return 0;
    (void)fprintf(stderr, "error: the output could not be written\n");
    return -1;
}

/* ---- statements ---- */

/* "INSERT 3", "CREATE TABLE". */
static void tag(struct sqlite_session *s, const char *text, size_t n)
{
    static const char *const counted[] = { "INSERT", "UPDATE", "DELETE", "REPLACE", "WITH" };
    static const char *const pairs[] = { "CREATE", "DROP", "ALTER" };
    char words[2][16] = { "", "" }, line[64];
    size_t at = 0;
    for (int w = 0; w < 2; w++) {
        at = split_skip_blank(text, n, at, false);
        for (size_t k = 0; at < n && isalpha((unsigned char)text[at]); at++)
            if (k < sizeof words[w] - 1)
                words[w][k++] = (char)toupper((unsigned char)text[at]);
    }
    (void)snprintf(line, sizeof line, "%s", words[0]);
    for (size_t i = 0; i < ARRAY_LEN(pairs); i++)
        if (strcmp(words[0], pairs[i]) == 0)
            (void)snprintf(line, sizeof line, "%s %s", words[0], words[1]);
    for (size_t i = 0; i < ARRAY_LEN(counted); i++)
        if (strcmp(words[0], counted[i]) == 0)
            (void)snprintf(line, sizeof line, "%s %lld", words[0],
                           (long long)sqlite3_changes64(s->db));
    render_tag(s->shell.render, line);
    (void)fflush(stdout);
}

/* A value that looks like a number is bound as one: LIMIT ?1 needs it. */
static int bind_value(sqlite3_stmt *stmt, int i, const char *value)
{
    enum csv_type type = csv_type_of(value, strlen(value));
    if (type == CSV_INTEGER || type == CSV_BIGINT)
        return sqlite3_bind_int64(stmt, i, strtoll(value, NULL, 10));
    if (type == CSV_NUMBER)
        return sqlite3_bind_double(stmt, i, strtod(value, NULL));
    return sqlite3_bind_text(stmt, i, value, -1, SQLITE_STATIC);
}

static int bind(struct sqlite_session *s, const struct script *script, sqlite3_stmt *stmt,
                size_t offset)
{
    char words[128];
    int wanted = sqlite3_bind_parameter_count(stmt);
    for (int i = 1; i <= wanted && (size_t)i <= s->shell.n_values; i++)
        if (bind_value(stmt, i, s->shell.values[i - 1]) != SQLITE_OK)
            return fail_at(s, script, offset);
    if ((size_t)wanted <= s->shell.n_values)
        return 0;
    (void)snprintf(words, sizeof words, "the statement has %d parameter%s and %zu argument%s given",
                   wanted, wanted == 1 ? "" : "s", s->shell.n_values,
                   s->shell.n_values == 1 ? " was" : "s were");
    return fail_words(s, script, offset, words);
}

static int run_statement(struct sqlite_session *s, const struct script *script, sqlite3_stmt *stmt,
                         size_t start, size_t end, bool shown)
{
    __attribute__((cleanup(row_done))) struct sqlite_row r = { 0 };
    struct err e = { 0 };
    if (bind(s, script, stmt, start))
        return -1;
    if (row_init(&r, stmt) ||
        (shown && r.n > 0 && shell_result_begin(&s->shell, r.columns, r.n, &e)))
        return fail_words(s, script, start, "no memory for a result");
    if (shown)
        shell_statement(&s->shell, start);
    int rc = step_rows(&s->shell, stmt, &r, shown);
    if (rc != SQLITE_DONE) {
        if (shown && r.n > 0)
            shell_result_drop(&s->shell);
        return rc < 0 ? -1 : fail_at(s, script, start);
    }
    if (shown && r.n > 0)
        return end_result(&s->shell, &r, where_at(script, start).line);
    if (shown)
        tag(s, script->text + start, end - start);
    return 0;
}

static size_t error_place(sqlite3 *db, const struct script *script, size_t start)
{
    int offset = sqlite3_error_offset(db);
    size_t end = script->n;
    if (strcmp(sqlite3_errmsg(db), "incomplete input") != 0)
        return offset > 0 ? start + (size_t)offset : start;
    /* where more was expected */
    while (end > start && isspace((unsigned char)script->text[end - 1]))
        end--;
    return end;
}

static int run_script(struct sqlite_session *s, const struct script *script, bool shown)
{
    for (size_t at = 0; at < script->n;) {
        sqlite3_stmt *stmt = NULL;
        const char *tail = NULL;
        size_t start = split_skip_blank(script->text, script->n, at, false);
        if (start >= script->n)
            break;
        if (sql_session_is_interrupted())
            return fail_words(s, script, start, "interrupted");
        if (script->text[start] == '\0')
            return fail_words(s, script, start,
                              "the script contains a NUL, which SQL does not allow");
        int rc = sqlite3_prepare_v3(s->db, script->text + start, (int)(script->n - start), 0, &stmt,
                                    &tail);
        if (rc != SQLITE_OK)
            return fail_at(s, script, error_place(s->db, script, start));
        at = (size_t)(tail - script->text);
        int failed = stmt && run_statement(s, script, stmt, start, at, shown);
        (void)sqlite3_finalize(stmt);
        if (failed)
            return -1;
    }
    return 0;
}

/* ---- fixtures ---- */

static int fixture_script(void *context, const struct script *script)
{
    return run_script(context, script, false);
}

static int add_insert(struct buf *b, const struct fixture_table *t, struct err *e)
{
    if (buf_addf(b, e, "INSERT INTO ") || fixture_add_name(b, t->table, e) || buf_addf(b, e, " ") ||
        fixture_add_names(b, t, e))
        return -1;
    for (size_t i = 0; i < t->n_columns; i++)
        if (buf_addf(b, e, "%s", i > 0 ? ", ?" : " VALUES (?"))
            return -1;
    return buf_addf(b, e, ")");
}

static int fail_row(sqlite3 *db, const struct fixture_table *t, size_t line)
{
    (void)fprintf(stderr, "%s:%zu:1: error: %s [%s]\n", t->file, line, sqlite3_errmsg(db),
                  code_name(sqlite3_extended_errcode(db)));
    return -1;
}

static int insert_rows(sqlite3 *db, const struct fixture_table *t, sqlite3_stmt *stmt)
{
    scoped(csv) c = { 0 };
    int got;
    if (fixture_rows(t, &c))
        return -1;
    while ((got = fixture_next(t, &c)) > 0) {
        /* the affinity of the column converts them to numbers */
        for (size_t i = 0; i < t->n_columns; i++)
            if (csv_is_null(&c, i) ? sqlite3_bind_null(stmt, (int)i + 1)
                                   : sqlite3_bind_text(stmt, (int)i + 1, csv_text(&c, i),
                                                       (int)c.fields[i].n, SQLITE_STATIC))
                return fail_row(db, t, c.row_line);
        if (sqlite3_step(stmt) != SQLITE_DONE)
            return fail_row(db, t, c.row_line);
        (void)sqlite3_reset(stmt);
    }
    return got;
}

static const char *const column_types[CSV_TYPE_COUNT_] = {
    [CSV_NOTHING] = "TEXT", [CSV_INTEGER] = "INTEGER", [CSV_BIGINT] = "INTEGER",
    [CSV_NUMBER] = "REAL",  [CSV_TEXT] = "TEXT",
};

static int fixture_table(void *context, const struct fixture_table *t)
{
    struct sqlite_session *s = context;
    scoped(buf) create = { 0 };
    scoped(buf) insert = { 0 };
    struct err e = { 0 };
    sqlite3_stmt *stmt = NULL;
    if (fixture_add_create(&create, t, column_types, &e) || add_insert(&insert, t, &e)) {
        (void)fprintf(stderr, "%s:1:1: error: %s\n", t->file, e.text);
        return -1;
    }
    if (sqlite3_exec(s->db, create.data, NULL, NULL, NULL) != SQLITE_OK ||
        sqlite3_prepare_v2(s->db, insert.data, -1, &stmt, NULL) != SQLITE_OK ||
        sqlite3_exec(s->db, "SAVEPOINT fixture", NULL, NULL, NULL) != SQLITE_OK)
        return fail_row(s->db, t, 1);
    int failed = insert_rows(s->db, t, stmt);
    (void)sqlite3_finalize(stmt);
    if (!failed && sqlite3_exec(s->db, "RELEASE fixture", NULL, NULL, NULL) != SQLITE_OK)
        return fail_row(s->db, t, 1);
    return failed;
}

/* ---- the program ---- */

static int open_database(struct sqlite_session *s)
{
    const char *name = s->shell.database ? s->shell.database : ":memory:";
    const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
    if (sqlite3_open_v2(name, &s->db, flags, NULL) != SQLITE_OK) {
        (void)fprintf(stderr, "error: %s: %s\n", name, sqlite3_errmsg(s->db));
        return -1;
    }
    (void)sqlite3_extended_result_codes(s->db, 1);
    return 0;
}

/* A pragma can limit a database, which is then full before its disk is. */
static bool keeps_itself_small(sqlite3 *db, const char *name)
{
    enum { NOBODY_ASKS_FOR = 1 << 29 };
    sqlite3_stmt *s = NULL;
    char *query = sqlite3_mprintf("PRAGMA \"%w\".max_page_count", name);
    bool small = query && sqlite3_prepare_v2(db, query, -1, &s, NULL) == SQLITE_OK &&
                 sqlite3_step(s) == SQLITE_ROW && sqlite3_column_int64(s, 0) < NOBODY_ASKS_FOR;
    (void)sqlite3_finalize(s);
    sqlite3_free(query);
    return small;
}

static bool disk_is_full(sqlite3 *db)
{
    const char *name;
    if ((sqlite3_errcode(db) & 0xff) != SQLITE_FULL)
        return false;
    for (int i = 0; (name = sqlite3_db_name(db, i)); i++)
        if (keeps_itself_small(db, name))
            return false;
    return true;
}

/* ---- the session ---- */

static int run_cell(void *context, const struct script *cell)
{
    return run_script(context, cell, true);
}

static void interrupt(void *context)
{
    const struct sqlite_session *s = context;
    sqlite3_interrupt(s->db);
}

/* A call of sqlite3_interrupt() before the first step of a statement has no effect on it. */
static int look_at_interrupt(void *context)
{
    (void)context;
    return sql_session_is_interrupted();
}

static void offer_all(void *context, void (*offer)(void *to, const char *name, const char *type),
                      void *to)
{
    static const char query[] =
        "SELECT name, type FROM sqlite_schema WHERE type IN ('table', 'view') "
        "UNION SELECT c.name, 'column' FROM sqlite_schema AS s, pragma_table_info(s.name) AS c";
    const struct sqlite_session *s = context;
    sqlite3_stmt *stmt = NULL;
    if (sqlite3_prepare_v2(s->db, query, -1, &stmt, NULL) == SQLITE_OK)
        while (sqlite3_step(stmt) == SQLITE_ROW) {
            const char *name = (const char *)sqlite3_column_text(stmt, 0);
            const char *type = (const char *)sqlite3_column_text(stmt, 1);
            if (name && type)
                offer(to, name, type);
        }
    (void)sqlite3_finalize(stmt);
}

static void describe(void *context, const char *name, void (*add)(void *to, const char *text),
                     void *to)
{
    static const char query[] =
        "SELECT type || ' ' || name || coalesce(char(10) || sql, '') FROM (SELECT * FROM "
        "sqlite_schema UNION ALL SELECT * FROM sqlite_temp_schema) WHERE name = ?1 COLLATE NOCASE "
        "UNION ALL SELECT 'column ' || s.name || '.' || c.name || ' ' || c.type FROM sqlite_schema "
        "AS s, pragma_table_info(s.name) AS c WHERE c.name = ?1 COLLATE NOCASE "
        "UNION ALL SELECT DISTINCT CASE type WHEN 'a' THEN 'aggregate ' WHEN 'w' THEN 'window ' "
        "ELSE '' END || 'function ' || name || ' of ' || CASE narg WHEN -1 THEN 'any number of "
        "arguments' WHEN 1 THEN '1 argument' ELSE narg || ' arguments' END FROM "
        "pragma_function_list WHERE name = ?1 COLLATE NOCASE";
    const struct sqlite_session *s = context;
    sqlite3_stmt *stmt = NULL;
    if (sqlite3_prepare_v2(s->db, query, -1, &stmt, NULL) == SQLITE_OK &&
        sqlite3_bind_text(stmt, 1, name, -1, SQLITE_STATIC) == SQLITE_OK)
        while (sqlite3_step(stmt) == SQLITE_ROW) {
            const char *text = (const char *)sqlite3_column_text(stmt, 0);
            if (text)
                add(to, text);
        }
    (void)sqlite3_finalize(stmt);
}

static int run_session(struct sqlite_session *s, int argc, char **argv)
{
    static const struct fixture_ops fixtures = { fixture_script, fixture_table };
    static const struct sql_session_ops ops = { run_cell, offer_all, describe, interrupt,
                                                .images = &sqlite_images };
    enum { LOOK_EVERY = 1000 }; /* instructions of its virtual machine */
    int status = 1;
    if (shell_open_session(&s->shell, argc, argv))
        return shell_close(&s->shell, 2);
    sqlite_images_begin();
    if (open_database(s) == 0 && fixtures_load(&fixtures, s) == 0) {
        sqlite3_progress_handler(s->db, LOOK_EVERY, look_at_interrupt, NULL);
        status = sql_session_run(s->shell.tables, &ops, s);
    }
    (void)sqlite3_close(s->db);
    return shell_close(&s->shell, status);
}

int main(int argc, char **argv)
{
    static const struct fixture_ops ops = { fixture_script, fixture_table };
    struct sqlite_session s = { 0 };
    if (argc == 2 && strcmp(argv[1], "--version") == 0)
        return printf("SQLite %s\n", sqlite3_libversion()) < 0;
    (void)sqlite3_config(SQLITE_CONFIG_SINGLETHREAD);
    if (shell_is_session(argc, argv))
        return run_session(&s, argc, argv);
    if (shell_open(&s.shell, argc, argv))
        return shell_close(&s.shell, 2);
    int failed = open_database(&s) || fixtures_load(&ops, &s) ||
                 run_script(&s, &s.shell.script, true);
    s.shell.disk_full = failed && disk_is_full(s.db);
    (void)sqlite3_close(s.db); /* a database file is complete then */
    return shell_close(&s.shell, failed ? 1 : 0);
}
