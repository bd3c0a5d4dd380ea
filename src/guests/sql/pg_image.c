#include "guests/sql/pg_image.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/auto.h"
#include "base/clock.h"
#include "guests/session/descriptors.h"

/* ---- the state of the connection ---- */

static int add_statement(struct pg_images *p, const char *text, char why[IMAGE_WHY])
{
    struct err e;
    return pg_state_add(&p->statements, text, &e) ? image_refuse(why, "%s", e.text) : 0;
}

/* Each row is a statement. */
static int add_statements(struct pg_images *p, const char *query, char why[IMAGE_WHY])
{
    PGresult *r = PQexec(p->server->connection, query);
    int failed = PQresultStatus(r) == PGRES_TUPLES_OK
                     ? 0
                     : image_refuse(why, "the state of the connection cannot be read: %.100s",
                                    PQresultErrorMessage(r));
    for (int i = 0; i < PQntuples(r) && !failed; i++)
        failed = add_statement(p, PQgetvalue(r, i, 0), why);
    PQclear(r);
    return failed;
}

static int add_unlisted_settings(struct pg_images *p, char why[IMAGE_WHY])
{
    static const char query[] =
        "SELECT format('SELECT pg_catalog.set_config(%L, %L, false)', $1::text, v) FROM "
        "pg_catalog.current_setting($1::text, true) AS v WHERE v IS NOT NULL";
    int failed = 0;
    for (size_t at = 0; at < p->settings.len && !failed; at += strlen(p->settings.data + at) + 1) {
        const char *const values[] = { p->settings.data + at };
        PGresult *r = PQexecParams(p->server->connection, query, 1, NULL, values, NULL, NULL, 0);
        if (PQresultStatus(r) == PGRES_TUPLES_OK && PQntuples(r) == 1)
            failed = add_statement(p, PQgetvalue(r, 0, 0), why);
        PQclear(r);
    }
    return failed;
}

/* A value as text, to be freed. NULL: the query failed, or found nothing. */
static char *ask_value(const struct pg_images *p, const char *query, const char *argument)
{
    PGresult *r = PQexecParams(p->server->connection, query, argument ? 1 : 0, NULL, &argument,
                               NULL, NULL, 0);
    bool has_value = PQresultStatus(r) == PGRES_TUPLES_OK && PQntuples(r) == 1;
    char *value = has_value ? strdup(PQgetvalue(r, 0, 0)) : NULL;
    PQclear(r);
    return value;
}

/* Makes currval() of a sequence; nextval() also makes lastval(). */
static int add_sequence(struct pg_images *p, const char *sequence, const char *value, bool is_last,
                        char why[IMAGE_WHY])
{
    char text[160];
    (void)snprintf(text, sizeof text, "SELECT pg_catalog.setval('%s'::oid::regclass, %s, %s)",
                   sequence, value, is_last ? "false" : "true");
    if (add_statement(p, text, why) || !is_last)
        return is_last ? -1 : 0;
    (void)snprintf(text, sizeof text, "SELECT pg_catalog.nextval('%s'::oid::regclass)", sequence);
    return add_statement(p, text, why);
}

/* The values that the connection took from sequences. The newest one comes last. */
static int add_sequences(struct pg_images *p, char why[IMAGE_WHY])
{
    PGresult *list = PQexec(p->server->connection,
                            "SELECT oid::text FROM pg_catalog.pg_class WHERE relkind = 'S' AND "
                            "relpersistence <> 't' ORDER BY oid LIMIT 1000");
    autofree char *last = ask_value(p, "SELECT pg_catalog.lastval()::text", NULL);
    int failed = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < PQntuples(list) && !failed; i++) {
            const char *sequence = PQgetvalue(list, i, 0);
            autofree char *value = ask_value(
                p, "SELECT pg_catalog.currval($1::text::oid::regclass)::text", sequence);
            bool is_last = value && last && strcmp(value, last) == 0;
            if (value && is_last == (pass == 1))
                failed = add_sequence(p, sequence, value, is_last, why);
        }
    PQclear(list);
    return failed;
}

/* In the order in which they are run again: with the rights of a superuser up to the last two. */
static int read_connection(struct pg_images *p, char why[IMAGE_WHY])
{
    static const char *const queries[] = {
        "SELECT format('SELECT pg_catalog.set_config(%L, %L, false)', name, "
        "pg_catalog.current_setting(name)) FROM pg_catalog.pg_settings WHERE source = 'session' "
        "AND context IN ('user', 'superuser') AND name NOT LIKE 'transaction\\_%' ORDER BY name",
        "SELECT statement FROM pg_catalog.pg_prepared_statements WHERE from_sql ORDER BY "
        "prepare_time",
        "SELECT format('LISTEN %I', c) FROM pg_catalog.pg_listening_channels() AS c",
        "SELECT format('SET SESSION AUTHORIZATION %I', session_user) WHERE session_user <> "
        "'sandbox'",
        "SELECT format('SET ROLE %I', r) FROM pg_catalog.current_setting('role') AS r WHERE r <> "
        "'none'",
    };
    int failed = add_sequences(p, why) || add_unlisted_settings(p, why) ? -1 : 0;
    for (size_t i = 0; i < ARRAY_LEN(queries) && !failed; i++)
        failed = add_statements(p, queries[i], why);
    return failed;
}

/* ---- losses ---- */

static void tell_rows(PGconn *connection, const char *query, int backend,
                      struct image_losses *losses)
{
    char number[24];
    const char *const values[] = { number };
    (void)snprintf(number, sizeof number, "%d", backend);
    PGresult *r = PQexecParams(connection, query, 1, NULL, values, NULL, NULL, 0);
    for (int i = 0; i < PQntuples(r); i++)
        losses->add(losses, PQgetvalue(r, i, 0));
    PQclear(r);
}

/* A second connection sees them, also if the first one is in a transaction or has few rights. */
static int tell_losses(struct pg_images *p, struct image_losses *losses, char why[IMAGE_WHY])
{
    static const char query[] =
        "SELECT 'the temporary table ' || relname FROM pg_catalog.pg_class WHERE relpersistence = "
        "'t' AND relkind IN ('r', 'p') AND $1::int IS NOT NULL "
        "UNION ALL SELECT 'the temporary sequence ' || relname FROM pg_catalog.pg_class WHERE "
        "relpersistence = 't' AND relkind = 'S' "
        "UNION ALL SELECT 'the temporary view ' || relname FROM pg_catalog.pg_class WHERE "
        "relpersistence = 't' AND relkind = 'v' "
        "UNION ALL SELECT 'the rows of the unlogged table ' || relname FROM pg_catalog.pg_class "
        "WHERE relpersistence = 'u' AND relkind IN ('r', 'm') AND pg_relation_size(oid) > 0 "
        "UNION ALL SELECT 'the unlogged sequence ' || relname FROM pg_catalog.pg_class WHERE "
        "relpersistence = 'u' AND relkind = 'S' "
        "UNION ALL SELECT DISTINCT 'an advisory lock' FROM pg_catalog.pg_locks WHERE locktype = "
        "'advisory' AND pid = $1::int";
    p->second = server_connect();
    if (PQstatus(p->second) != CONNECTION_OK)
        return image_refuse(why, "the server takes no second connection: %.100s",
                            PQerrorMessage(p->second));
    tell_rows(p->second, query, PQbackendPID(p->server->connection), losses);
    return 0;
}

static int look(void *context, const struct message *m, struct image_losses *losses,
                char why[IMAGE_WHY])
{
    struct pg_images *p = context;
    (void)m;
    const struct process_relative ours[] = { { p->server->pid, .with_children = true } };
    PGconn *connection = p->server->connection;
    if (PQstatus(connection) != CONNECTION_OK)
        return image_refuse(why, "the connection to the server is lost: restart the session");
    tell_other_processes(ours, ARRAY_LEN(ours), losses);
    if (tell_losses(p, losses, why))
        return -1;
    /* A query would change an open transaction: it may be one that has not begun to read. */
    if (PQtransactionStatus(connection) != PQTRANS_IDLE) {
        losses->add(losses, "the open transaction");
        losses->add(losses, "settings and prepared statements of the connection, which cannot be "
                            "read during a transaction");
        return 0;
    }
    tell_rows(connection,
              "SELECT 'the cursor ' || name FROM pg_catalog.pg_cursors WHERE $1::int IS NOT NULL "
              "AND is_holdable",
              0, losses);
    return read_connection(p, why);
}

/* ---- writing ---- */

static int pause_server(void *context, char why[IMAGE_WHY])
{
    struct pg_images *p = context;
    PGresult *r = PQexec(p->second, "CHECKPOINT");
    int failed = PQresultStatus(r) == PGRES_COMMAND_OK
                     ? 0
                     : image_refuse(why, "the server makes no checkpoint: %.100s",
                                    PQerrorMessage(p->second));
    PQclear(r);
    if (!failed && server_pause(p->server))
        failed = image_refuse(why, "the processes of the server cannot be stopped");
    return failed;
}

static void resume_server(void *context)
{
    struct pg_images *p = context;
    server_resume(p->server);
    PQfinish(p->second);
    p->second = NULL;
    buf_done(&p->statements);
}

static int put(int fd, const void *bytes, size_t n, uint64_t at)
{
    for (size_t done = 0; done < n;) {
        ssize_t got = pwrite(fd, (const char *)bytes + done, n - done, (off_t)(at + done));
        if (got <= 0)
            return -1;
        done += (size_t)got;
    }
    return 0;
}

static enum image_outcome write_image(void *context, const struct image_target *t,
                                      char why[IMAGE_WHY])
{
    struct pg_images *p = context;
    uint64_t began_us = clock_us();
    char line[96];
    struct pg_front front = { .magic = PG_FRONT_MAGIC,
                              .state_at = t->at,
                              .state_bytes = p->statements.len,
                              .bytes = t->at + p->statements.len,
                              .count = p->channel->count };
    if (front.bytes > t->room)
        return image_refuse(why, "the image needs %llu bytes, and there is room for %llu",
                            (unsigned long long)front.bytes, (unsigned long long)t->room);
    if (ftruncate(t->fd, (off_t)front.bytes) < 0 ||
        put(t->fd, buf_str(&p->statements), p->statements.len, t->at) ||
        put(t->fd, &front, sizeof front, 0))
        return image_refuse(why, "the image cannot be written: %s", strerror(errno));
    int n = snprintf(line, sizeof line, "ok %llu 0 0 %llu 0\n", (unsigned long long)front.bytes,
                     (unsigned long long)(clock_us() - began_us));
    (void)!write(t->report, line, (size_t)n);
    return IMAGE_WRITTEN;
}

/* ---- becoming ---- */

static void leave(void *context)
{
    struct pg_images *p = context;
    server_stop(p->server);
}

static int get(int fd, void *bytes, size_t n, uint64_t at)
{
    for (size_t done = 0; done < n;) {
        ssize_t got = pread(fd, (char *)bytes + done, n - done, (off_t)(at + done));
        if (got <= 0)
            return -1;
        done += (size_t)got;
    }
    return 0;
}

static int read_state(int fd, struct pg_front *front, struct buf *state, char why[IMAGE_WHY])
{
    struct stat st;
    struct err e;
    if (fstat(fd, &st) < 0 || get(fd, front, sizeof *front, 0) ||
        !pg_front_is_whole(front, (uint64_t)st.st_size))
        return image_refuse(why, "this is no whole image of a PostgreSQL session");
    if (buf_reserve(state, front->state_bytes, &e))
        return image_refuse(why, "there is no memory for the state");
    if (get(fd, state->data, front->state_bytes, front->state_at))
        return image_refuse(why, "the image cannot be read: %s", strerror(errno));
    state->len = front->state_bytes;
    return 0;
}

static int run_statements(const struct pg_images *p, const struct buf *state, char why[IMAGE_WHY])
{
    const char *from;
    size_t at = 0, n;
    int more;
    while ((more = pg_state_next(state, &at, &from, &n)) > 0) {
        autofree char *text = strndup(from, n);
        PGresult *r = text ? PQexec(p->server->connection, text) : NULL;
        ExecStatusType got = PQresultStatus(r);
        bool failed = got != PGRES_COMMAND_OK && got != PGRES_TUPLES_OK;
        if (failed)
            (void)image_refuse(why, "the server refuses the state of the image: %.100s",
                               r ? PQresultErrorMessage(r) : "no memory");
        PQclear(r);
        if (failed)
            return -1;
    }
    return more < 0 ? image_refuse(why, "the state of the image is cut short") : 0;
}

/* Tables of the connection that the server had: nobody else can use them. */
static void drop_lost_tables(const struct pg_images *p)
{
    PQclear(PQexec(p->server->connection,
                   "DO $$ DECLARE t text; BEGIN FOR t IN SELECT format('DROP %s IF EXISTS %I.%I "
                   "CASCADE', CASE c.relkind WHEN 'S' THEN 'SEQUENCE' WHEN 'v' THEN 'VIEW' ELSE "
                   "'TABLE' END, n.nspname, c.relname) FROM pg_catalog.pg_class c JOIN "
                   "pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE c.relpersistence = "
                   "'t' AND c.relkind IN ('r', 'p', 'S', 'v') LOOP EXECUTE t; END LOOP; END $$"));
}

static void drop_notice(void *context, const PGresult *r)
{
    (void)context;
    (void)r;
}

static int become(void *context, int fd, const struct image_bases *bases, char why[IMAGE_WHY])
{
    (void)bases;
    struct pg_images *p = context;
    struct pg_front front = { 0 };
    scoped(buf) state = { 0 };
    if (read_state(fd, &front, &state, why))
        return -1;
    if (server_start_here(p->server))
        return image_refuse(why, "%.190s", p->server->why);
    (void)PQsetNoticeReceiver(p->server->connection, drop_notice, NULL);
    drop_lost_tables(p);
    if (run_statements(p, &state, why))
        return -1;
    p->channel->count = front.count;
    p->on_server(p->context);
    return 0;
}

static const char *const places[] = { SERVER_DIR, NULL };

const struct image_ops pg_images = { .version = "PostgreSQL",
                                     .look = look,
                                     .pause = pause_server,
                                     .resume = resume_server,
                                     .write = write_image,
                                     .leave = leave,
                                     .become = become,
                                     .stands_alone = true,
                                     .places = places,
                                     .hidden = "the socket " SERVER_DIR "/" };
