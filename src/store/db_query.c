#include "store/db_query.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/auto.h"
#include "base/clock.h"
#include "base/text.h"
#include "store/digest.h"

/* Primary result code -> error for the caller. Any other code is the host's fault, in SQLite's
 * words. */
static const struct {
    int rc;
    enum err_code code;
    const char *words;
} failures[] = {
    { SQLITE_FULL, ERR_KERNEL, "the disk is full: free some space, or lower history.max_bytes" },
    { SQLITE_INTERRUPT, ERR_UNAVAILABLE, "the query took too long: narrow it down" },
    { SQLITE_BUSY, ERR_BUSY, "another program has locked the database: try again" },
    { SQLITE_NOMEM, ERR_NO_MEMORY, "out of memory" },
    { SQLITE_TOOBIG, ERR_TOO_LARGE, "a value is too large for the database" },
    { SQLITE_NOTADB, ERR_KERNEL,
      "this is not a database: move it away, or name another state directory" },
    { SQLITE_CORRUPT, ERR_KERNEL,
      "the database is damaged: stop belljar, move the file away and restore a copy" },
    { SQLITE_CONSTRAINT, ERR_CONFLICT, NULL },
};

/* Results that say something about the disk and the file, and nothing about the statement. */
static bool is_fault(int primary)
{
    static const int faults[] = { SQLITE_FULL,     SQLITE_IOERR,    SQLITE_CORRUPT, SQLITE_NOTADB,
                                  SQLITE_READONLY, SQLITE_CANTOPEN, SQLITE_PERM };
    for (size_t i = 0; i < ARRAY_LEN(faults); i++)
        if (faults[i] == primary)
            return true;
    return false;
}

static int describe(const struct db *db, int rc, const char *what, struct err *e)
{
    for (size_t i = 0; i < ARRAY_LEN(failures); i++) {
        if ((rc & 0xff) != failures[i].rc)
            continue;
        const char *words = failures[i].words ? failures[i].words : sqlite3_errmsg(db->sqlite);
        /* The fault of a caller has nothing to do with the file. */
        return err_blame(failures[i].code) == BLAME_CALLER
                   ? err_set(e, failures[i].code, 0, "%s: %s", what, words)
                   : err_set(e, failures[i].code, 0, "%s: %s: %s", db->path, what, words);
    }
    int sys = (rc & 0xff) == SQLITE_IOERR || (rc & 0xff) == SQLITE_CANTOPEN
                  ? sqlite3_system_errno(db->sqlite)
                  : 0;
    return err_set(e, ERR_KERNEL, sys, "%s: %s: %s", db->path, what, sqlite3_errmsg(db->sqlite));
}

int sql_fail(struct db *db, int rc, const char *what, struct err *e)
{
    (void)!describe(db, rc, what, e);
    if (is_fault(rc & 0xff))
        db->fault = *e;
    return -1;
}

int64_t sql_total_changes(const struct db *db)
{
    return sqlite3_total_changes64(db->sqlite);
}

static int is_late(void *context)
{
    return clock_ms() > ((const struct db *)context)->deadline_ms;
}

void sql_deadline(struct db *db, uint64_t ms)
{
    enum {
        /* SQLite instructions between two checks; one instruction may search megabytes of code */
        STEPS = 100
    };
    db->deadline_ms = ms;
    sqlite3_progress_handler(db->sqlite, STEPS, ms ? is_late : NULL, db);
}

int sql_script(struct db *db, const char *text, struct err *e)
{
    int rc = sqlite3_exec(db->sqlite, text, NULL, NULL, NULL);
    return rc == SQLITE_OK ? 0 : sql_fail(db, rc, "prepare the database", e);
}

int sql_number(struct db *db, const char *text, int64_t *ret, struct err *e)
{
    scoped(query) q = { 0 };
    if (query_prepare(&q, db, text, e))
        return -1;
    int row = query_step(&q, e);
    if (row < 0)
        return -1;
    *ret = row ? take_int(&q) : 0;
    return 0;
}

static int run_kept(struct db *db, enum sql id, struct err *e)
{
    scoped(query) q = { 0 };
    return query_get(&q, db, id, e) ? -1 : query_run(&q, e);
}

int db_begin(struct db *db, struct err *e)
{
    db->audit.known = false;
    return run_kept(db, db->mode == DB_WRITE ? SQL_BEGIN_WRITE : SQL_BEGIN_READ, e);
}

int db_commit(struct db *db, struct err *e)
{
    db->audit.known = false;
    return run_kept(db, SQL_COMMIT, e);
}

void db_rollback(struct db *db)
{
    struct err ignored = { 0 };
    db->audit.known = false;
    if (sql_in_transaction(db)) /* after some failures SQLite has already rolled back */
        (void)run_kept(db, SQL_ROLLBACK, &ignored);
}

bool sql_in_transaction(const struct db *db)
{
    return !sqlite3_get_autocommit(db->sqlite);
}

int sql_savepoint(struct db *db, struct err *e)
{
    return run_kept(db, SQL_SAVEPOINT, e);
}

int sql_release(struct db *db, struct err *e)
{
    return run_kept(db, SQL_RELEASE, e);
}

void sql_undo(struct db *db)
{
    struct err ignored = { 0 };
    db->audit.known = false;
    if (!sql_in_transaction(db))
        return;
    /* a part that cannot be undone alone must not be committed */
    if (run_kept(db, SQL_UNDO, &ignored) || run_kept(db, SQL_RELEASE, &ignored))
        db_rollback(db);
}

void query_done(struct query *q)
{
    if (!q->stmt)
        return;
    if (q->own) {
        /* returns the result of the last step, which was checked there */
        (void)sqlite3_finalize(q->stmt);
    } else {
        (void)sqlite3_reset(q->stmt);
        (void)sqlite3_clear_bindings(q->stmt);
    }
    q->stmt = NULL;
}

int query_get(struct query *q, struct db *db, enum sql id, struct err *e)
{
    if (!db->kept[id]) {
        int rc = sqlite3_prepare_v3(db->sqlite, sql_texts[id], -1, SQLITE_PREPARE_PERSISTENT,
                                    &db->kept[id], NULL);
        if (rc != SQLITE_OK)
            return sql_fail(db, rc, "prepare a statement", e);
    }
    *q = (struct query){ .db = db, .stmt = db->kept[id] };
    return 0;
}

int query_prepare(struct query *q, struct db *db, const char *text, struct err *e)
{
    *q = (struct query){ .db = db, .own = true };
    int rc = sqlite3_prepare_v2(db->sqlite, text, -1, &q->stmt, NULL);
    return rc == SQLITE_OK ? 0 : sql_fail(db, rc, "prepare a statement", e);
}

static void note(struct query *q, int rc)
{
    if (q->failed == SQLITE_OK)
        q->failed = rc;
}

void bind_text(struct query *q, const char *text)
{
    q->bound++;
    if (text) /* an unbound parameter is NULL */
        note(q, sqlite3_bind_text64(q->stmt, q->bound, text, strlen(text), SQLITE_STATIC,
                                    SQLITE_UTF8));
}

void bind_int(struct query *q, int64_t value)
{
    note(q, sqlite3_bind_int64(q->stmt, ++q->bound, value));
}

void bind_texts(struct query *q, const char *const *texts, size_t n)
{
    for (size_t i = 0; i < n; i++)
        bind_text(q, texts[i]);
}

void bind_ints(struct query *q, const int64_t *values, size_t n)
{
    for (size_t i = 0; i < n; i++)
        bind_int(q, values[i]);
}

void bind_blob(struct query *q, const void *bytes, size_t n)
{
    note(q, sqlite3_bind_blob64(q->stmt, ++q->bound, bytes, n, SQLITE_STATIC));
}

void bind_buf(struct query *q, const struct buf *b)
{
    if (b->len)
        bind_blob(q, b->data, b->len);
    else
        q->bound++;
}

int query_step(struct query *q, struct err *e)
{
    int rc = q->failed == SQLITE_OK ? sqlite3_step(q->stmt) : q->failed;
    q->read = 0;
    if (rc == SQLITE_ROW)
        return 1;
    if (rc == SQLITE_DONE)
        return 0;
    return sql_fail(q->db, rc, sqlite3_stmt_readonly(q->stmt) ? "read" : "write", e);
}

int query_run(struct query *q, struct err *e)
{
    int row;
    do {
        row = query_step(q, e);
    } while (row > 0);
    return row;
}

int query_run_seq(struct db *db, enum sql id, int64_t seq, struct err *e)
{
    scoped(query) q = { 0 };
    if (query_get(&q, db, id, e))
        return -1;
    bind_int(&q, seq);
    return query_run(&q, e);
}

int64_t query_changes(const struct query *q)
{
    return sqlite3_changes64(q->db->sqlite);
}

int query_remove(struct db *db, enum sql id, const char *noun, const char *key, struct err *e)
{
    scoped(query) q = { 0 };
    if (query_get(&q, db, id, e))
        return -1;
    bind_text(&q, key);
    if (query_run(&q, e))
        return -1;
    return sqlite3_changes64(db->sqlite)
               ? 0
               : err_set(e, ERR_NOT_FOUND, 0, "there is no %s '%s'", noun, QUOTED(key));
}

char *take_text(struct query *q)
{
    int column = q->read++;
    if (sqlite3_column_type(q->stmt, column) == SQLITE_NULL)
        return NULL;
    const char *text = (const char *)sqlite3_column_text(q->stmt, column);
    char *copy = text ? strdup(text) : NULL;
    if (!copy)
        note(q, SQLITE_NOMEM);
    return copy;
}

int64_t take_int(struct query *q)
{
    return sqlite3_column_int64(q->stmt, q->read++);
}

void take_buf(struct query *q, struct buf *ret)
{
    size_t n;
    struct err ignored = { 0 };
    const void *bytes = peek_blob(q, &n);
    if (n && buf_add(ret, bytes, n, &ignored))
        note(q, SQLITE_NOMEM);
}

const char *peek_text(struct query *q, size_t *ret_n)
{
    int column = q->read++;
    const char *text = (const char *)sqlite3_column_text(q->stmt, column);
    if (ret_n)
        *ret_n = text ? (size_t)sqlite3_column_bytes(q->stmt, column) : 0;
    return text ? text : "";
}

const void *peek_blob(struct query *q, size_t *ret_n)
{
    int column = q->read++;
    const void *bytes = sqlite3_column_blob(q->stmt, column);
    *ret_n = bytes ? (size_t)sqlite3_column_bytes(q->stmt, column) : 0;
    return bytes;
}

void query_digest(struct query *q, struct digest *d)
{
    int n = sqlite3_column_count(q->stmt);
    for (int i = 0; i < n; i++) {
        switch (sqlite3_column_type(q->stmt, i)) {
        case SQLITE_NULL:
            digest_add_text(d, NULL);
            break;
        case SQLITE_INTEGER:
            digest_add_number(d, (uint64_t)sqlite3_column_int64(q->stmt, i));
            break;
        default: { /* text or bytes */
            const void *bytes = sqlite3_column_blob(q->stmt, i);
            digest_add(d, bytes, (size_t)sqlite3_column_bytes(q->stmt, i));
        }
        }
    }
    q->read = 0;
}

int query_taken(struct query *q, struct err *e)
{
    return q->failed == SQLITE_OK ? 0 : sql_fail(q->db, q->failed, "read", e);
}

int sql_grow(void *array, size_t n, size_t element, struct err *e)
{
    void *rows;
    memcpy(&rows, array, sizeof rows);
    /* The capacity is the next power of two. */
    if ((n & (n - 1)) == 0) {
        rows = reallocarray(rows, n ? n * 2 : 1, element);
        if (!rows)
            return err_no_memory(e, "the rows of a list");
        memcpy(array, &rows, sizeof rows);
    }
    memset((char *)rows + n * element, 0, element);
    return 0;
}

void sql_move(void *ret, void *from, size_t size)
{
    memcpy(ret, from, size);
    memset(from, 0, size);
}
