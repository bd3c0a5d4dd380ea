#include "store/approval_rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/auto.h"
#include "base/moment.h"
#include "base/text.h"
#include "store/approval_columns.h"
#include "store/db_query.h"
#include "store/run_columns.h"

/* The rows contain whole programs, so a page ends early when they are large. */
enum { LIMIT_MAX = 1000, PAGE_BYTES = 8 << 20 };

static const char *const words[] = {
#define X(id, word) [id] = word,
    DECISION_TABLE(X)
#undef X
};

const char *decision_word(enum decision d)
{
    return words[d];
}

/* An unknown word means that another program wrote the row. Such a request allows nothing to
 * run. */
static enum decision decision_of(const char *word)
{
    for (int i = 0; i < DECISION_COUNT_; i++)
        if (strcmp(word, words[i]) == 0)
            return (enum decision)i;
    return DECISION_REJECT;
}

void approval_row_done(struct approval_row *r)
{
    char *texts[] = { r->id,       r->thread,   r->run,        r->tool,           r->input,
                      r->risks,    r->reason,   r->decided_by, r->decided_reason, r->edited_input,
                      r->remember, r->requester };
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        free(texts[i]);
    *r = (struct approval_row){ 0 };
}

static void take_row(struct query *q, struct approval_row *r)
{
    r->seq = take_int(q);
    r->id = take_text(q);
    r->thread = take_text(q);
    r->run = take_text(q);
    r->tool = take_text(q);
    r->input = take_text(q);
    r->risks = take_text(q);
    r->reason = take_text(q);
    r->decision = decision_of(peek_text(q, NULL));
    r->decided_by = take_text(q);
    r->decided_reason = take_text(q);
    r->edited_input = take_text(q);
    r->remember = take_text(q);
    r->created_ms = take_int(q);
    r->expires_ms = take_int(q);
    r->decided_ms = take_int(q);
    r->requester = take_text(q);
}

static int64_t text_bytes(const struct approval_row *r)
{
    const char *texts[] = { r->input, r->risks, r->reason };
    size_t n = 512; /* the row and its indexes */
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        n += texts[i] ? strlen(texts[i]) : 0;
    return (int64_t)n;
}

int approvals_insert(struct db *db, const struct approval_row *r, struct err *e)
{
    scoped(query) q = { 0 };
    if (query_get(&q, db, SQL_APPROVAL_INSERT, e))
        return -1;
    BIND_TEXTS(&q, r->id, r->thread, r->run, r->tool, r->input, r->risks, r->reason,
               words[DECISION_PENDING]);
    bind_int(&q, r->created_ms);
    bind_int(&q, r->expires_ms);
    bind_text(&q, r->requester);
    /* The text is the history of the run: it counts for its key, and goes with the run. */
    return query_run(&q, e) || (r->run && run_charge(db, r->run, text_bytes(r), e)) ? -1 : 0;
}

/* Reads the row that a statement with one text parameter finds: 1, 0 or -1. */
static int get_one(struct db *db, enum sql id, const char *text, struct approval_row *ret,
                   struct err *e)
{
    scoped(approval_row) row = { 0 };
    scoped(query) q = { 0 };
    if (query_get(&q, db, id, e))
        return -1;
    bind_text(&q, text);
    int found = query_step(&q, e);
    if (found <= 0)
        return found;
    take_row(&q, &row);
    if (query_taken(&q, e))
        return -1;
    sql_move(ret, &row, sizeof row);
    return 1;
}

int approvals_get(struct db *db, const char *id, struct approval_row *ret, struct err *e)
{
    int found = get_one(db, SQL_APPROVAL_GET, id, ret, e);
    if (found == 0)
        return err_set(e, ERR_NOT_FOUND, 0, "there is no approval '%s'", QUOTED(id));
    return found < 0 ? -1 : 0;
}

int approvals_pending_of(struct db *db, const char *thread, struct approval_row *ret, struct err *e)
{
    int found = get_one(db, SQL_APPROVAL_PENDING_OF, thread, ret, e);
    if (found == 0)
        return err_set(e, ERR_NOT_FOUND, 0, "no request of thread '%s' waits for an approval",
                       QUOTED(thread));
    return found < 0 ? -1 : 0;
}

void approval_rows_done(struct approval_rows *r)
{
    for (size_t i = 0; i < r->n; i++)
        approval_row_done(&r->rows[i]);
    free(r->rows);
    *r = (struct approval_rows){ 0 };
}

static int prepare_list(struct query *q, struct db *db, const char *decision, const char *thread,
                        int64_t before_seq, unsigned limit, struct err *e)
{
    scoped(buf) sql = { 0 };
    if (buf_addf(&sql, e,
                 "SELECT " APPROVAL_COLUMNS " FROM approvals WHERE true%s%s%s "
                 "ORDER BY seq DESC LIMIT ?",
                 thread ? " AND thread = ?" : "", decision ? " AND decision = ?" : "",
                 before_seq ? " AND seq < ?" : "") ||
        query_prepare(q, db, buf_str(&sql), e))
        return -1;
    if (thread)
        bind_text(q, thread);
    if (decision)
        bind_text(q, decision);
    if (before_seq)
        bind_int(q, before_seq);
    bind_int(q, (int64_t)limit + 1);
    return 0;
}

int approvals_list(struct db *db, const char *decision, const char *thread, int64_t before_seq,
                   unsigned limit, struct approval_rows *ret, struct err *e)
{
    scoped(approval_rows) list = { 0 };
    scoped(query) q = { 0 };
    limit = limit < 1 ? 1 : limit > LIMIT_MAX ? LIMIT_MAX : limit;
    if (prepare_list(&q, db, decision, thread, before_seq, limit, e))
        return -1;
    size_t bytes = 0;
    int found;
    while ((found = query_step(&q, e)) > 0) {
        if (list.n == limit || bytes > PAGE_BYTES) {
            list.next_before_seq = list.rows[list.n - 1].seq;
            break;
        }
        if (SQL_GROW(list.rows, list.n, e))
            return -1;
        struct approval_row *row = &list.rows[list.n++];
        take_row(&q, row);
        if (query_taken(&q, e))
            return -1;
        bytes += strlen(row->input ? row->input : "") +
                 strlen(row->edited_input ? row->edited_input : "");
    }
    if (found < 0)
        return -1;
    sql_move(ret, &list, sizeof list);
    return 0;
}

/* Explains why no row was updated. */
static int conflict(const struct approval_row *now, struct err *e)
{
    char time[MOMENT_SIZE], who[96];
    if (now->decision == DECISION_PENDING)
        return err_set(e, ERR_CONFLICT, 0, "approval '%s' expired at %s: ask again", now->id,
                       moment_format(now->expires_ms, time));
    return err_set(e, ERR_CONFLICT, 0, "approval '%s' is already decided: %s by '%s' at %s",
                   now->id, words[now->decision],
                   text_quote(now->decided_by ? now->decided_by : "", who, sizeof who),
                   moment_format(now->decided_ms, time));
}

int approvals_decide(struct db *db, const struct approval_row *r, struct approval_row *ret,
                     struct err *e)
{
    scoped(query) q = { 0 };
    scoped(approval_row) now = { 0 };
    if (r->decision == DECISION_PENDING)
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "'pending' is no decision: approve, edit or reject is accepted");
    if (query_get(&q, db, SQL_APPROVAL_DECIDE, e))
        return -1;
    BIND_TEXTS(&q, words[r->decision], r->decided_by, r->decided_reason, r->edited_input,
               r->remember);
    bind_int(&q, r->decided_ms);
    bind_text(&q, r->id);
    if (query_run(&q, e))
        return -1;
    bool decided = query_changes(&q) > 0;
    if (approvals_get(db, r->id, &now, e))
        return -1;
    if (!decided)
        return conflict(&now, e);
    sql_move(ret, &now, sizeof now);
    return 0;
}
