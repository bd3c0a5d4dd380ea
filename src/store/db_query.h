/* store/db_query.h — private to the room: the inside of a connection, and statements that bind and
 * read in order. Runs in: the thread that has the connection. A statement remembers a failed bind
 * or copy, so that its callers check once. */
#pragma once

#include <sqlite3.h>

#include "base/array.h"
#include "store/db.h"

enum { SQL_HASH_BYTES = 32 };

/* Each statement is prepared at its first use and kept until the connection is closed. Texts:
 * statements.c. */
enum sql {
    SQL_BEGIN_READ,
    SQL_BEGIN_WRITE,
    SQL_COMMIT,
    SQL_ROLLBACK,
    SQL_SAVEPOINT,
    SQL_RELEASE,
    SQL_UNDO,
    SQL_RUN_INSERT,
    SQL_RUN_INPUT_INSERT,
    SQL_RUN_INPUT_REPLACE,
    SQL_RUN_INPUT_SIZE,
    SQL_RUN_OUTPUT_INSERT,
    SQL_RUN_FINISH,
    SQL_RUN_STATE,
    SQL_RUN_GET,
    SQL_RUN_CREATED,
    SQL_RUN_BLOBS,
    SQL_RUN_INTERRUPT,
    SQL_RUN_TOTAL_ADD,
    SQL_RUN_TOTALS,
    SQL_RUN_TOTALS_SINCE,
    SQL_RUN_BYTES_ADD,
    SQL_RUN_ROW_BYTES_ADD,
    SQL_RUN_BYTES,
    SQL_RUN_OWNERS_EMPTY,
    SQL_RUN_CHARGE,
    SQL_RUN_LARGEST_OWNERS,
    SQL_RUN_OLDEST_OF_KEY,
    SQL_RUN_OLDEST_WITHOUT_KEY,
    SQL_APPROVALS_OF_RUN_DELETE,
    SQL_RUN_OLDER,
    SQL_RUN_OLDEST,
    SQL_RUN_DELETE,
    SQL_RUN_INPUT_DELETE,
    SQL_RUN_OUTPUT_DELETE,
    SQL_DOOMED_ADD,
    SQL_DOOMED_LIST,
    SQL_DOOMED_DELETE,
    SQL_AUDIT_HEAD,
    SQL_AUDIT_INSERT,
    SQL_AUDIT_AFTER,
    SQL_AUDIT_DOWN,
    SQL_AUDIT_COUNT,
    SQL_AUDIT_OLDEST,
    SQL_AUDIT_OLDEST_TIME,
    SQL_AUDIT_REMOVE,
    SQL_AUDIT_REMOVAL,
    SQL_BOUND_RUNS,
    SQL_BOUND_APPROVALS,
    SQL_BOUND_RULES,
    SQL_BOUND_KEYS,
    SQL_BOUND_ARTIFACTS,
    SQL_BOUND_RUN_ACCEPTED,
    SQL_BOUND_RUN_FINISHED,
    SQL_BOUND_APPROVAL_REQUESTED,
    SQL_BOUND_APPROVAL_DECIDED,
    SQL_BOUND_RULE,
    SQL_BOUND_KEY,
    SQL_BOUND_ARTIFACT,
    SQL_RUN_IS_OPEN,
    SQL_RUN_IS_FINISHED,
    SQL_APPROVAL_IS_PENDING,
    SQL_APPROVAL_INSERT,
    SQL_APPROVAL_GET,
    SQL_APPROVAL_PENDING_OF,
    SQL_APPROVAL_DECIDE,
    SQL_RULE_INSERT,
    SQL_RULE_DELETE,
    SQL_RULE_LIST,
    SQL_ARTIFACT_INSERT,
    SQL_ARTIFACT_VERSION_INSERT,
    SQL_ARTIFACT_GET,
    SQL_ARTIFACT_UPDATE,
    SQL_ARTIFACT_DELETE,
    SQL_ARTIFACT_VERSIONS_DELETE,
    SQL_ARTIFACT_SIZE,
    SQL_ARTIFACT_BYTES,
    SQL_ARTIFACT_OWNER_ADD,
    SQL_ARTIFACT_OF_CONVERSATION,
    SQL_ARTIFACT_LIST,
    SQL_ARTIFACT_VERSIONS,
    SQL_KEY_INSERT,
    SQL_KEY_DELETE,
    SQL_KEY_LIST,
    SQL_KEYS_EXISTED,
    SQL_KEYS_EXISTED_SET,
    SQL_SESSION_INSERT,
    SQL_SESSION_FINISH,
    SQL_SESSION_SET_ADOPTED,
    SQL_SESSION_GET,
    SQL_SESSION_ENDED,
    SQL_SESSION_LOSE,
    SQL_SESSION_CELLS,
    SQL_SESSION_RETAIN,
    SQL_SESSION_CELL,
    SQL_SESSION_CELLS_AFTER,
    SQL_SESSION_CELLS_NEWEST,
    SQL_SESSION_LANGUAGES,
    SQL_SESSION_ROLL_BACK,
    SQL_SESSION_TREE,
    SQL_SESSION_SET_IMAGE,
    SQL_SESSION_SLEEPING,
    SQL_IMAGE_INSERT,
    SQL_IMAGE_DELETE,
    SQL_IMAGE_DEMOTE,
    SQL_IMAGE_LIST,
    SQL_TEMPLATE_INSERT,
    SQL_TEMPLATE_DELETE,
    SQL_TEMPLATE_GET,
    SQL_PROBE,
    SQL_COUNT_
};
extern const char *const sql_texts[SQL_COUNT_];

struct db {
    sqlite3 *sqlite;
    char *path;
    int dir_fd;
    enum db_mode mode;
    /* The end of the audit chain. It is valid only within a transaction, because another process
     * may append between two. */
    struct {
        bool known;
        int64_t seq;
        uint8_t hash[SQL_HASH_BYTES];
    } audit;
    sqlite3_stmt *kept[SQL_COUNT_];
    uint64_t deadline_ms; /* for the current read, on clock_ms(); 0: none */
    struct err fault;     /* of the disk or the file, in the current job or transaction */
};

/* A read that takes longer fails with ERR_UNAVAILABLE. 0: no bound. */
void sql_deadline(struct db *db, uint64_t ms);

/* Migrates the schema, one transaction for each version. */
[[nodiscard]] int schema_update(struct db *db, struct err *e);
/* Refuses a file that is not our database, and a database newer than this program. */
[[nodiscard]] int schema_check(struct db *db, struct err *e);

/* Always -1. Fills e from SQLite's result code and message. `what` names the attempted action. */
[[nodiscard, gnu::cold]] int sql_fail(struct db *db, int rc, const char *what, struct err *e);
[[nodiscard]] int sql_script(struct db *db, const char *text, struct err *e);
/* Rows changed since the database was opened. */
int64_t sql_total_changes(const struct db *db);
/* The single number that a query such as "PRAGMA user_version" returns. */
[[nodiscard]] int sql_number(struct db *db, const char *text, int64_t *ret, struct err *e);

/* Inside a transaction: the following changes can be undone alone. sql_undo() may lose the whole
 * transaction (if the disk was full); sql_in_transaction() tells. */
[[nodiscard]] int sql_savepoint(struct db *db, struct err *e);
[[nodiscard]] int sql_release(struct db *db, struct err *e);
void sql_undo(struct db *db);
bool sql_in_transaction(const struct db *db);

struct query {
    struct db *db;
    sqlite3_stmt *stmt;
    int bound, read; /* parameters bound and columns read so far */
    int failed;      /* the first SQLite result that was not OK */
    bool own;        /* prepared for this query alone */
};
/* Ends the query. A kept statement can be used again. */
void query_done(struct query *q);
[[nodiscard]] int query_get(struct query *q, struct db *db, enum sql id, struct err *e);
[[nodiscard]] int query_prepare(struct query *q, struct db *db, const char *text, struct err *e);

/* Binds the next parameter. The value must live until query_done(). NULL text binds NULL. */
void bind_text(struct query *q, const char *text);
void bind_int(struct query *q, int64_t value);
/* Several parameters in a row. */
#define BIND_TEXTS(q, ...)                                \
    bind_texts((q), (const char *const[]){ __VA_ARGS__ }, \
               ARRAY_LEN(((const char *const[]){ __VA_ARGS__ })))
#define BIND_INTS(q, ...) \
    bind_ints((q), (const int64_t[]){ __VA_ARGS__ }, ARRAY_LEN(((const int64_t[]){ __VA_ARGS__ })))
void bind_texts(struct query *q, const char *const *texts, size_t n);
void bind_ints(struct query *q, const int64_t *values, size_t n);
void bind_blob(struct query *q, const void *bytes, size_t n);
/* An empty buffer binds NULL. */
void bind_buf(struct query *q, const struct buf *b);

/* 1: a row, 0: no more rows, -1: an error. */
[[nodiscard]] int query_step(struct query *q, struct err *e);
/* For statements that return no rows. */
[[nodiscard]] int query_run(struct query *q, struct err *e);
/* Runs a statement whose only value is a sequence number. */
[[nodiscard]] int query_run_seq(struct db *db, enum sql id, int64_t seq, struct err *e);
/* Runs a statement that removes the row of a key. ERR_NOT_FOUND if there is none: "there is no
 * NOUN". */
[[nodiscard]] int query_remove(struct db *db, enum sql id, const char *noun, const char *key,
                               struct err *e);
/* Number of rows that the last statement changed. */
int64_t query_changes(const struct query *q);

/* Reads the next column. take_text() returns a copy on the heap, NULL for NULL. */
char *take_text(struct query *q);
int64_t take_int(struct query *q);
void take_buf(struct query *q, struct buf *ret);
/* Borrowed until the next step; "" for NULL. */
const char *peek_text(struct query *q, size_t *ret_n);
const void *peek_blob(struct query *q, size_t *ret_n);
/* Adds every column of the row; reading starts anew afterwards. */
struct digest;
void query_digest(struct query *q, struct digest *d);
/* -1 if a value of this row could not be copied. */
[[nodiscard]] int query_taken(struct query *q, struct err *e);

/* Grows the array that *array points to, of n elements, by one zeroed element. */
[[nodiscard]] int sql_grow(void *array, size_t n, size_t element, struct err *e);
#define SQL_GROW(array, n, e) sql_grow(&(array), (n), sizeof *(array), (e))
/* Moves a value out of an object that its scope would release: *from is all zeros afterwards. */
void sql_move(void *ret, void *from, size_t size);
