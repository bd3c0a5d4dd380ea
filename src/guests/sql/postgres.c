/* guests/sql/postgres.c — guest-postgres: runs a PostgreSQL script, statement by statement, on a
 * server of its own. Runs in: a jar. In a warm start the server is up before the job arrives: the
 * driver (src/runtime/postgres) calls sql_server_begin() for that. */
#include <ctype.h>
#include <errno.h>
#include <glob.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/auto.h"
#include "base/nearest.h"
#include "guests/sql/pg_image.h"
#include "guests/sql/pg_types.h"
#include "guests/sql/server.h"
#include "guests/sql/split.h"
#include "guests/sql/sql_shell.h"
#include "guests/sql/warm.h"

struct pg_session {
    struct shell shell;
    struct pg_server *server;
    PGconn *connection;
    PGcancel *cancel; /* of a session */
    struct pg_images images;
    /* of the current statement */
    const struct script *script;
    struct statement now;
    bool shown;
    size_t next; /* where the script continues */
};

/* ---- errors and notices, in psql's own format ---- */

static void print_more(const PGresult *r, bool context)
{
    static const struct {
        int field;
        const char *name;
    } more[] = {
        { PG_DIAG_MESSAGE_DETAIL, "DETAIL" },
        { PG_DIAG_MESSAGE_HINT, "HINT" },
        { PG_DIAG_INTERNAL_QUERY, "QUERY" },
        { PG_DIAG_CONTEXT, "CONTEXT" },
    };
    for (size_t i = 0; i < ARRAY_LEN(more); i++) {
        const char *text = PQresultErrorField(r, more[i].field);
        if (text && (context || more[i].field != PG_DIAG_CONTEXT))
            (void)fprintf(stderr, "%s:  %s\n", more[i].name, text);
    }
}

/* The server counts characters of the statement; the output shows the line of the file. */
static size_t offset_of(const struct pg_session *s, const PGresult *r, bool *ret_known)
{
    const char *position = PQresultErrorField(r, PG_DIAG_STATEMENT_POSITION);
    *ret_known = position != NULL;
    if (!position)
        return s->now.start;
    return where_character(s->script, s->now.start, strtoul(position, NULL, 10) - 1);
}

static void print_head(const struct pg_session *s, size_t offset)
{
    (void)fflush(stdout);
    (void)fprintf(stderr, "psql:%s:%zu: ", s->script->name, where_at(s->script, offset).line);
}

static void print_caret(const struct pg_session *s, size_t offset)
{
    char head[48], below[48];
    int n = snprintf(head, sizeof head, "LINE %zu: ", where_at(s->script, offset).line);
    (void)snprintf(below, sizeof below, "%*s", n, "");
    where_show(stderr, s->script, offset, head, below);
}

/* Suggests a name for a missing table; the server itself does not. */
static void hint_at_table(struct pg_session *s, const PGresult *r)
{
    const char *state = PQresultErrorField(r, PG_DIAG_SQLSTATE);
    const char *message = PQresultErrorField(r, PG_DIAG_MESSAGE_PRIMARY);
    char name[128] = "";
    if (!state || strcmp(state, "42P01") != 0 || !message ||
        PQresultErrorField(r, PG_DIAG_MESSAGE_HINT) ||
        sscanf(message, "relation \"%127[^\"]\"", name) != 1 ||
        PQtransactionStatus(s->connection) != PQTRANS_IDLE)
        return;
    struct nearest n = { .wanted = name };
    PGresult *names = PQexec(
        s->connection, "SELECT c.relname FROM pg_class c WHERE c.relkind IN ('r', 'v', 'm', 'p') "
                       "AND pg_table_is_visible(c.oid) AND c.relname NOT LIKE 'pg\\_%'");
    for (int i = 0; i < PQntuples(names); i++)
        nearest_offer(&n, PQgetvalue(names, i, 0));
    PQclear(names);
    if (n.name[0])
        (void)fprintf(stderr, "HINT:  Perhaps you meant the table \"%s\".\n", n.name);
}

static void note_full_disk(struct pg_session *s, const PGresult *r)
{
    const char *state = PQresultErrorField(r, PG_DIAG_SQLSTATE);
    if (state && strcmp(state, "53100") == 0)
        s->shell.disk_full = true;
}

/* Always -1. */
static int fail_result(struct pg_session *s, const PGresult *r)
{
    bool known;
    const char *state = PQresultErrorField(r, PG_DIAG_SQLSTATE);
    const char *severity = PQresultErrorField(r, PG_DIAG_SEVERITY_NONLOCALIZED);
    const char *message = PQresultErrorField(r, PG_DIAG_MESSAGE_PRIMARY);
    size_t offset = offset_of(s, r, &known);
    note_full_disk(s, r);
    print_head(s, offset);
    if (!message) { /* libpq's own message, of several lines */
        message = PQerrorMessage(s->connection);
        s->shell.disk_full = server_met_full_disk();
        sql_session_error(s->shell.tables, "08006", "the connection to the server is lost");
        (void)fprintf(stderr, "ERROR:  08006: the connection to the server is lost: %.*s\n",
                      (int)strcspn(message, "\n"), message);
        return -1;
    }
    (void)fprintf(stderr, "%s:  %s: %s\n", severity ? severity : "ERROR", state ? state : "XX000",
                  message);
    sql_session_error(s->shell.tables, state ? state : "XX000", message);
    if (known)
        print_caret(s, offset);
    print_more(r, true);
    return -1;
}

static int fail_words(struct pg_session *s, const char *words, const char *hint)
{
    print_head(s, s->now.start);
    (void)fprintf(stderr, "ERROR:  42601: %s\n", words);
    sql_session_error(s->shell.tables, "42601", words);
    print_caret(s, s->now.start);
    if (hint)
        (void)fprintf(stderr, "HINT:  %s\n", hint);
    return -1;
}

static void on_notice(void *context, const PGresult *r)
{
    const struct pg_session *s = context;
    const char *message = PQresultErrorField(r, PG_DIAG_MESSAGE_PRIMARY);
    const char *severity = PQresultErrorField(r, PG_DIAG_SEVERITY_NONLOCALIZED);
    if (!s->script || !message)
        return;
    sql_session_notice_begin(s->shell.tables);
    print_head(s, s->now.start);
    (void)fprintf(stderr, "%s:  %s\n", severity ? severity : "NOTICE", message);
    print_more(r, false);
    sql_session_notice_end(s->shell.tables);
}

/* ---- results ---- */

struct pg_result {
    size_t n;
    struct cell *cells;
    struct column *columns;
    char **names; /* copies: each row is a separate result of libpq */
    char (*types)[64];
    Oid *oids;
    int *mods;
    unsigned char **blobs; /* of the current row */
    bool begun;
};

static void drop_blobs(struct pg_result *r)
{
    for (size_t i = 0; r->blobs && i < r->n; i++) {
        PQfreemem(r->blobs[i]);
        r->blobs[i] = NULL;
    }
}

static void result_done(struct pg_result *r)
{
    drop_blobs(r);
    for (size_t i = 0; r->names && i < r->n; i++)
        free(r->names[i]);
    free(r->names);
    free(r->cells);
    free(r->columns);
    free(r->types);
    free(r->oids);
    free(r->mods);
    free(r->blobs);
    *r = (struct pg_result){ 0 };
}

static int result_begin(struct pg_session *s, struct pg_result *r, const PGresult *from)
{
    struct err e;
    size_t n = (size_t)PQnfields(from);
    *r = (struct pg_result){ .n = n,
                             .cells = calloc(n + 1, sizeof *r->cells),
                             .columns = calloc(n + 1, sizeof *r->columns),
                             .names = calloc(n + 1, sizeof *r->names),
                             .types = calloc(n + 1, sizeof *r->types),
                             .oids = calloc(n + 1, sizeof *r->oids),
                             .mods = calloc(n + 1, sizeof *r->mods),
                             .blobs = calloc(n + 1, sizeof *r->blobs) };
    if (!r->cells || !r->columns || !r->names || !r->types || !r->oids || !r->mods || !r->blobs)
        return fail_words(s, "no memory for a result", NULL);
    for (size_t i = 0; i < n; i++) {
        r->names[i] = strdup(PQfname(from, (int)i));
        if (!r->names[i])
            return fail_words(s, "no memory for a result", NULL);
        r->columns[i] = (struct column){ r->names[i], r->types[i] };
        r->oids[i] = PQftype(from, (int)i);
        r->mods[i] = PQfmod(from, (int)i);
    }
    r->begun = true;
    if (s->shown && shell_result_begin(&s->shell, r->columns, n, &e))
        return fail_words(s, e.text, NULL);
    return 0;
}

static void take_cell(struct pg_result *r, const PGresult *from, int row, size_t i)
{
    struct cell *c = &r->cells[i];
    *c = (struct cell){ .kind = CELL_NULL };
    if (PQgetisnull(from, row, (int)i))
        return;
    *c = (struct cell){ pg_type_kind(r->oids[i]), PQgetvalue(from, row, (int)i),
                        (size_t)PQgetlength(from, row, (int)i) };
    if (c->kind != CELL_BLOB)
        return;
    r->blobs[i] = PQunescapeBytea((const unsigned char *)c->bytes, &c->n);
    c->bytes = (const char *)r->blobs[i];
    c->n = c->bytes ? c->n : 0;
}

static int take_rows(struct pg_session *s, struct pg_result *r, const PGresult *from)
{
    struct err e;
    if (!r->begun && result_begin(s, r, from))
        return -1;
    for (int row = 0; s->shown && row < PQntuples(from); row++) {
        for (size_t i = 0; i < r->n; i++)
            take_cell(r, from, row, i);
        int failed = shell_row(&s->shell, r->cells, r->n, &e);
        drop_blobs(r);
        if (failed)
            return fail_words(s, e.text, NULL);
    }
    return 0;
}

/* Only the server knows the names of types that the script created, and only while it can be
 * queried. */
static void name_type(struct pg_session *s, Oid type, char out[64])
{
    const char *known = pg_type_name(type);
    char number[24];
    (void)snprintf(number, sizeof number, "%u", type);
    (void)snprintf(out, 64, "%s%s", known ? "" : "oid ", known ? known : number);
    if (known || PQtransactionStatus(s->connection) == PQTRANS_INERROR)
        return;
    const char *const values[] = { number };
    PGresult *r = PQexecParams(s->connection, "SELECT pg_catalog.format_type($1::oid, NULL)", 1,
                               NULL, values, NULL, NULL, 0);
    if (PQresultStatus(r) == PGRES_TUPLES_OK && PQntuples(r) == 1)
        (void)snprintf(out, 64, "%s", PQgetvalue(r, 0, 0));
    PQclear(r);
}

static int end_result(struct pg_session *s, struct pg_result *r)
{
    struct err e = { 0 };
    if (!s->shown || !r->begun)
        return 0;
    for (size_t i = 0; i < r->n; i++)
        name_type(s, r->oids[i], r->types[i]);
    if (shell_result_end(&s->shell, r->columns, r->n, where_at(s->script, s->now.start).line, &e) ==
        0)
        return 0;
    (void)fprintf(stderr, "error: the output could not be written\n");
    return -1;
}

/* ---- COPY ---- */

static int copy_out(struct pg_session *s)
{
    char *bytes = NULL;
    int n;
    while ((n = PQgetCopyData(s->connection, &bytes, 0)) > 0) {
        if (s->shown)
            (void)fwrite(bytes, 1, (size_t)n, stdout);
        PQfreemem(bytes);
    }
    return n == -1 ? 0 : -1;
}

/* The line that ends the data within a script; NULL if there is none. */
static const char *find_end_of_data(const char *from, const char *end)
{
    while (from < end) {
        const char *newline = memchr(from, '\n', (size_t)(end - from));
        size_t n = (size_t)((newline ? newline : end) - from);
        if ((n == 2 || (n == 3 && from[2] == '\r')) && memcmp(from, "\\.", 2) == 0)
            return from;
        from += n + 1;
    }
    return NULL;
}

static int copy_stdin(struct pg_session *s)
{
    char bytes[1 << 16];
    ssize_t n;
    while ((n = read(0, bytes, sizeof bytes)) > 0 || (n < 0 && errno == EINTR))
        if (n > 0 && PQputCopyData(s->connection, bytes, (int)n) < 0)
            return -1;
    return PQputCopyEnd(s->connection, n < 0 ? "stdin could not be read" : NULL) < 0 ? -1 : 0;
}

/* As psql does it: the lines after the statement up to \. are the data; without that line, standard
 * input. */
static int copy_in(struct pg_session *s)
{
    enum { AT_ONCE = 1 << 20 };
    const char *end = s->script->text + s->script->n;
    const char *from = s->script->text + s->next;
    const char *newline = memchr(from, '\n', (size_t)(end - from));
    from = newline ? newline + 1 : end;
    const char *stop = find_end_of_data(from, end);
    if (!stop)
        return copy_stdin(s);
    const char *after = memchr(stop, '\n', (size_t)(end - stop));
    s->next = after ? (size_t)(after + 1 - s->script->text) : s->script->n;
    while (from < stop) {
        size_t n = stop - from < AT_ONCE ? (size_t)(stop - from) : AT_ONCE;
        if (PQputCopyData(s->connection, from, (int)n) < 0)
            return -1;
        from += n;
    }
    return PQputCopyEnd(s->connection, NULL) < 0 ? -1 : 0;
}

/* ---- statements ---- */

static int take_result(struct pg_session *s, struct pg_result *r, PGresult *got)
{
    switch (PQresultStatus(got)) {
    case PGRES_SINGLE_TUPLE:
    case PGRES_TUPLES_OK: /* the end of the rows, or an empty result */
        return take_rows(s, r, got);
    case PGRES_COMMAND_OK:
        if (s->shown) {
            render_tag(s->shell.render, PQcmdStatus(got));
            (void)fflush(stdout);
        }
        return 0;
    case PGRES_COPY_IN:
        return copy_in(s);
    case PGRES_COPY_OUT:
        return copy_out(s);
    case PGRES_EMPTY_QUERY:
        return 0;
    default:
        return fail_result(s, got);
    }
}

static bool is_error(const PGresult *r)
{
    ExecStatusType status = PQresultStatus(r);
    return status == PGRES_FATAL_ERROR || status == PGRES_BAD_RESPONSE;
}

/* Reads the rest of an answer after its error, so that the connection is idle again. */
static void drain(struct pg_session *s)
{
    PGresult *rest;
    while (PQstatus(s->connection) == CONNECTION_OK && (rest = PQgetResult(s->connection)))
        PQclear(rest);
}

static int take_results(struct pg_session *s)
{
    __attribute__((cleanup(result_done))) struct pg_result r = { 0 };
    PGresult *got;
    int failed = 0;
    while (!failed && (got = PQgetResult(s->connection))) {
        failed = take_result(s, &r, got);
        if (failed && is_error(got)) {
            drain(s);
            hint_at_table(s, got);
        }
        PQclear(got);
    }
    if (failed && r.begun && s->shown)
        shell_result_drop(&s->shell);
    return failed ? -1 : end_result(s, &r);
}

static int send_statement(struct pg_session *s, const char *text)
{
    char words[128];
    unsigned wanted = s->now.parameters;
    if (wanted == 0)
        return PQsendQuery(s->connection, text)
                   ? 0
                   : fail_words(s, PQerrorMessage(s->connection), NULL);
    if (wanted > s->shell.n_values) {
        (void)snprintf(words, sizeof words,
                       "the statement has the parameter $%u and %zu argument%s given", wanted,
                       s->shell.n_values, s->shell.n_values == 1 ? " was" : "s were");
        return fail_words(s, words, NULL);
    }
    return PQsendQueryParams(s->connection, text, (int)wanted, NULL,
                             (const char *const *)s->shell.values, NULL, NULL, 0)
               ? 0
               : fail_words(s, PQerrorMessage(s->connection), NULL);
}

static int run_statement(struct pg_session *s)
{
    const struct statement *now = &s->now;
    if (now->command)
        return fail_words(s, "lines that begin with a backslash are commands of psql, not SQL",
                          "pg_catalog and information_schema replace \\d; COPY ... FROM "
                          "STDIN replaces \\copy.");
    if (memchr(s->script->text + now->start, '\0', now->end - now->start))
        return fail_words(s, "the script contains a NUL, which SQL does not allow", NULL);
    autofree char *text = strndup(s->script->text + now->start, now->end - now->start);
    if (!text)
        return fail_words(s, "no memory for a statement", NULL);
    if (s->shell.tables)
        pg_state_see(&s->images.settings, text);
    if (s->shown)
        shell_statement(&s->shell, now->start);
    if (send_statement(s, text))
        return -1;
    (void)PQsetSingleRowMode(s->connection);
    return take_results(s);
}

static int run_script(struct pg_session *s, const struct script *script, bool shown)
{
    int failed = 0;
    s->script = script;
    s->shown = shown;
    for (s->next = 0; !failed && split_next(script->text, script->n, s->next, &s->now);) {
        s->next = s->now.next;
        failed = sql_session_is_interrupted() ? fail_words(s, "interrupted", NULL)
                                              : run_statement(s);
    }
    s->script = NULL;
    return failed;
}

/* ---- fixtures ---- */

static int fixture_script(void *context, const struct script *script)
{
    return run_script(context, script, false);
}

static int add_copy(struct buf *b, const struct fixture_table *t, struct err *e)
{
    return buf_addf(b, e, "COPY ") || fixture_add_name(b, t->table, e) || buf_addf(b, e, " ") ||
                   fixture_add_names(b, t, e) || buf_addf(b, e, " FROM STDIN (FORMAT csv)")
               ? -1
               : 0;
}

/* Quotes every value but NULL, so that the server reads the file exactly as we do. */
static int add_row(struct buf *b, const struct csv *c, struct err *e)
{
    for (size_t i = 0; i < c->n_fields; i++) {
        if (i > 0 && buf_add(b, ",", 1, e))
            return -1;
        if (!csv_is_null(c, i) && fixture_add_name(b, csv_text(c, i), e))
            return -1;
    }
    return buf_add(b, "\n", 1, e);
}

/* The line of the file in which row `number` (from 1) begins. */
static size_t line_of_row(const struct fixture_table *t, unsigned long number)
{
    scoped(csv) c = { 0 };
    if (fixture_rows(t, &c))
        return 1;
    while (number-- > 0 && fixture_next(t, &c) > 0)
        ;
    return c.row_line;
}

static int fail_table(struct pg_session *s, const struct fixture_table *t, const PGresult *r)
{
    const char *context = PQresultErrorField(r, PG_DIAG_CONTEXT);
    const char *state = PQresultErrorField(r, PG_DIAG_SQLSTATE);
    const char *message = PQresultErrorField(r, PG_DIAG_MESSAGE_PRIMARY);
    const char *line = context ? strstr(context, ", line ") : NULL;
    note_full_disk(s, r);
    (void)fprintf(stderr, "psql:%s:%zu: ERROR:  %s: %s\n", t->file,
                  line ? line_of_row(t, strtoul(line + strlen(", line "), NULL, 10)) : 1,
                  state ? state : "XX000", message ? message : PQerrorMessage(s->connection));
    print_more(r, true);
    return -1;
}

/* Runs our own statement about a table; returns its only result. */
static int table_statement(struct pg_session *s, const struct fixture_table *t, const char *text,
                           ExecStatusType wanted)
{
    PGresult *r = PQexec(s->connection, text);
    int failed = PQresultStatus(r) == wanted ? 0 : fail_table(s, t, r);
    PQclear(r);
    return failed;
}

static int copy_rows(struct pg_session *s, const struct fixture_table *t, struct err *e)
{
    enum { AT_ONCE = 1 << 16 };
    scoped(csv) c = { 0 };
    scoped(buf) rows = { 0 };
    int got;
    if (fixture_rows(t, &c))
        return -1;
    while ((got = fixture_next(t, &c)) > 0) {
        if (add_row(&rows, &c, e))
            return -1;
        if (rows.len >= AT_ONCE) {
            (void)PQputCopyData(s->connection, rows.data, (int)rows.len);
            rows.len = 0;
        }
    }
    (void)PQputCopyData(s->connection, buf_str(&rows), (int)rows.len);
    (void)PQputCopyEnd(s->connection, got < 0 ? "no CSV" : NULL);
    int failed = got < 0;
    for (PGresult *r; (r = PQgetResult(s->connection)); PQclear(r))
        if (PQresultStatus(r) != PGRES_COMMAND_OK && !failed)
            failed = fail_table(s, t, r);
    return failed;
}

static const char *const column_types[CSV_TYPE_COUNT_] = {
    [CSV_NOTHING] = "text",   [CSV_INTEGER] = "integer", [CSV_BIGINT] = "bigint",
    [CSV_NUMBER] = "numeric", [CSV_TEXT] = "text",
};

static int fixture_table(void *context, const struct fixture_table *t)
{
    struct pg_session *s = context;
    scoped(buf) create = { 0 };
    scoped(buf) copy = { 0 };
    struct err e = { 0 };
    if (fixture_add_create(&create, t, column_types, &e) || add_copy(&copy, t, &e)) {
        (void)fprintf(stderr, "%s:1:1: error: %s\n", t->file, e.text);
        return -1;
    }
    return table_statement(s, t, create.data, PGRES_COMMAND_OK) ||
                   table_statement(s, t, copy.data, PGRES_COPY_IN) || copy_rows(s, t, &e)
               ? -1
               : 0;
}

/* ---- the program ---- */

/* Prints the version of the server that `prepare` would use: the newest installed one. */
static int print_version(void)
{
    glob_t found;
    const char *newest = NULL;
    if (glob("/usr/lib/postgresql/*/bin/postgres", 0, NULL, &found) == 0)
        for (size_t i = 0; i < found.gl_pathc; i++)
            if (!newest || strverscmp(found.gl_pathv[i], newest) > 0)
                newest = found.gl_pathv[i];
    char *const argv[] = { (char *)"postgres", (char *)"--version", NULL };
    if (newest)
        (void)execv(newest, argv);
    (void)fprintf(stderr, "PostgreSQL is not installed: apt-get install postgresql\n");
    return 1;
}

/* The driver calls this in an embryo, before main(). A process has one server. */
static struct pg_server the_server;

const char *sql_server_check(void)
{
    return server_check(&the_server) ? the_server.why : NULL;
}

/* No job has arrived yet, so no one could be told of the server's end. */
static void on_server_end(int signal_number)
{
    (void)signal_number;
    _exit(1);
}

void sql_server_begin(void)
{
    if (server_start(&the_server))
        return;
    /* loads everything that every query needs */
    PQclear(PQexec(the_server.connection, "SELECT 1"));
    (void)signal(SIGCHLD, on_server_end);
}

static int begin(struct pg_session *s)
{
    bool warm = the_server.connection != NULL;
    s->server = &the_server;
    (void)signal(SIGCHLD, SIG_DFL);
    if (!warm && server_start(s->server)) {
        (void)fprintf(stderr, "error: %s\n", s->server->why);
        s->shell.disk_full = s->server->disk_full;
        if (s->shell.tables) /* a session: its request is refused with these words */
            channel_note(sql_session_channel(s->shell.tables), 0, s->server->why);
        return -1;
    }
    if (warm)
        server_take_limits(s->server);
    s->connection = s->server->connection;
    (void)PQsetNoticeReceiver(s->connection, on_notice, s);
    return 0;
}

/* ---- the session ---- */

static int run_cell(void *context, const struct script *cell)
{
    struct pg_session *s = context;
    if (PQstatus(s->connection) == CONNECTION_OK)
        return run_script(s, cell, true);
    (void)fprintf(stderr, "the connection to the server is lost: restart the session\n");
    sql_session_error(s->shell.tables, "08006", "the connection to the server is lost");
    return -1;
}

static void interrupt(void *context)
{
    const struct pg_session *s = context;
    char words[256];
    (void)PQcancel(s->cancel, words, sizeof words);
}

static void offer_all(void *context, void (*offer)(void *to, const char *name, const char *type),
                      void *to)
{
    const struct pg_session *s = context;
    PGresult *r = PQexec(
        s->connection,
        "SELECT c.relname, CASE c.relkind WHEN 'v' THEN 'view' WHEN 'm' THEN 'view' ELSE 'table' "
        "END FROM pg_class c WHERE c.relkind IN ('r', 'v', 'm', 'p') AND "
        "pg_table_is_visible(c.oid) AND c.relnamespace <> 'pg_catalog'::regnamespace UNION SELECT "
        "a.attname, 'column' FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid WHERE "
        "a.attnum > 0 AND c.relkind IN ('r', 'v', 'm', 'p') AND pg_table_is_visible(c.oid) AND "
        "c.relnamespace <> 'pg_catalog'::regnamespace ORDER BY 1");
    for (int i = 0; i < PQntuples(r); i++)
        offer(to, PQgetvalue(r, i, 0), PQgetvalue(r, i, 1));
    PQclear(r);
}

static void describe(void *context, const char *name, void (*add)(void *to, const char *text),
                     void *to)
{
    static const char query[] =
        "SELECT CASE c.relkind WHEN 'v' THEN 'view' WHEN 'm' THEN 'materialized view' WHEN 'S' "
        "THEN 'sequence' ELSE 'table' END || ' ' || c.oid::regclass || coalesce((SELECT "
        "string_agg(E'\\n  ' || a.attname || ' ' || format_type(a.atttypid, a.atttypmod) || CASE "
        "WHEN a.attnotnull THEN ' not null' ELSE '' END, '' ORDER BY a.attnum) FROM pg_attribute a "
        "WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped), '') FROM pg_class c "
        "WHERE c.relkind IN ('r', 'v', 'm', 'p', 'S') AND pg_table_is_visible(c.oid) AND "
        "lower(c.relname) = lower($1::text) "
        "UNION ALL SELECT 'column ' || c.oid::regclass || '.' || a.attname || ' ' || "
        "format_type(a.atttypid, a.atttypmod) FROM pg_attribute a JOIN pg_class c ON c.oid = "
        "a.attrelid WHERE a.attnum > 0 AND c.relkind IN ('r', 'v', 'm', 'p') AND "
        "pg_table_is_visible(c.oid) AND c.relnamespace <> 'pg_catalog'::regnamespace AND "
        "lower(a.attname) = lower($1::text) "
        "UNION ALL SELECT 'function ' || p.proname || '(' || pg_get_function_arguments(p.oid) || "
        "')' || coalesce(' returns ' || pg_get_function_result(p.oid), '') || coalesce(E'\\n  ' "
        "|| obj_description(p.oid, 'pg_proc'), '') FROM pg_proc p WHERE "
        "pg_function_is_visible(p.oid) AND p.proname = lower($1::text)";
    const struct pg_session *s = context;
    const char *const values[] = { name };
    PGresult *r = PQexecParams(s->connection, query, 1, NULL, values, NULL, NULL, 0);
    for (int i = 0; i < PQntuples(r); i++)
        add(to, PQgetvalue(r, i, 0));
    PQclear(r);
}

static void on_server(void *context)
{
    struct pg_session *s = context;
    s->connection = s->server->connection;
    (void)PQsetNoticeReceiver(s->connection, on_notice, s);
    PQfreeCancel(s->cancel);
    s->cancel = PQgetCancel(s->connection);
}

static int run_session(struct pg_session *s, int argc, char **argv)
{
    static const struct fixture_ops fixtures = { fixture_script, fixture_table };
    const struct sql_session_ops ops = {
        run_cell, offer_all, describe, interrupt, .images = &pg_images, .images_context = &s->images
    };
    int status = 1;
    if (shell_open_session(&s->shell, argc, argv))
        return shell_close(&s->shell, 2);
    if (begin(s) == 0 && fixtures_load(&fixtures, s) == 0 &&
        (s->cancel = PQgetCancel(s->connection))) {
        s->images = (struct pg_images){ .server = s->server,
                                        .channel = sql_session_channel(s->shell.tables),
                                        .on_server = on_server,
                                        .context = s };
        status = sql_session_run(s->shell.tables, &ops, s);
    }
    server_done(&the_server);
    return shell_close(&s->shell, status);
}

int main(int argc, char **argv)
{
    static const struct fixture_ops ops = { fixture_script, fixture_table };
    struct pg_session s = { 0 };
    if (argc == 2 && strcmp(argv[1], "--version") == 0)
        return print_version();
    if (shell_is_session(argc, argv))
        return run_session(&s, argc, argv);
    if (shell_open(&s.shell, argc, argv))
        return shell_close(&s.shell, 2);
    if (s.shell.database) {
        (void)fprintf(stderr, "error: --db is for SQLite: PostgreSQL's database is \"sandbox\"\n");
        return shell_close(&s.shell, 2);
    }
    int failed = begin(&s) || fixtures_load(&ops, &s) || run_script(&s, &s.shell.script, true);
    server_done(&the_server);
    return shell_close(&s.shell, failed ? 1 : 0);
}
