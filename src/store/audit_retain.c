#include "store/audit_retain.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "store/audit_rows.h"
#include "store/db_query.h"

enum { COUNT_AT_ONCE = 5000 };

/* Counts the records that are new. *ret_all: there are no more of them. */
static int count(struct db *db, struct audit_size *size, bool *ret_all, struct err *e)
{
    scoped(query) q = { 0 };
    if (query_get(&q, db, SQL_AUDIT_COUNT, e))
        return -1;
    bind_int(&q, size->counted_to);
    bind_int(&q, COUNT_AT_ONCE);
    if (query_step(&q, e) < 0)
        return -1;
    int64_t last = take_int(&q), bytes = take_int(&q), n = take_int(&q);
    if (n > 0)
        size->counted_to = last;
    size->bytes += bytes;
    *ret_all = n < COUNT_AT_ONCE;
    return 0;
}

/* ---- the records that go ---- */

/* The copy of a record. */
struct kept {
    char *kind, *subject, *actor, *detail;
};

struct removal {
    struct audit_removal told; /* by the record of it */
    struct kept *kept;
    size_t n_kept;
    int64_t kept_bytes;
    int64_t excess;    /* so many bytes go */
    int64_t before_ms; /* and all records that are older; INT64_MIN: none because of its age */
};

static void removal_done(struct removal *r)
{
    for (size_t i = 0; i < r->n_kept; i++) {
        free(r->kept[i].kind);
        free(r->kept[i].subject);
        free(r->kept[i].actor);
        free(r->kept[i].detail);
    }
    free(r->kept);
}

/* A copy begins with the number and the time of its record; a copy of a copy has them already. */
static int copy_record(const struct audit_record *a, struct kept *k, struct err *e)
{
    size_t n = strlen(a->kind), end = sizeof AUDIT_KEPT - 1;
    bool again = n > end && strcmp(a->kind + n - end, AUDIT_KEPT) == 0;
    const char *rest = a->detail[0] == '{' && a->detail[1] != '}' ? a->detail + 1 : NULL;
    int rc = again ? asprintf(&k->detail, "%s", a->detail)
                   : asprintf(&k->detail, "{\"record\":%" PRId64 ",\"time_ms\":%" PRId64 "%s%s",
                              a->seq, a->time_ms, rest ? "," : "}", rest ? rest : "");
    if (rc < 0)
        k->detail = NULL;
    if (asprintf(&k->kind, "%s%s", a->kind, again ? "" : AUDIT_KEPT) < 0)
        k->kind = NULL;
    k->subject = strdup(a->subject);
    k->actor = strdup(a->actor);
    return k->detail && k->kind && k->subject && k->actor ? 0 : err_no_memory(e, "an audit record");
}

/* 1: this record and all later ones stay. */
static int take_oldest(struct db *db, struct query *q, struct removal *r, struct err *e)
{
    struct audit_record a = { .seq = take_int(q),
                              .time_ms = take_int(q),
                              .kind = peek_text(q, NULL),
                              .subject = peek_text(q, NULL),
                              .actor = peek_text(q, NULL),
                              .detail = peek_text(q, NULL) };
    size_t n;
    const void *hash = peek_blob(q, &n);
    int64_t bytes = take_int(q);
    if (r->told.bytes >= r->excess && a.time_ms >= r->before_ms)
        return 1;
    int needed = audit_rows_needs(db, &a, e);
    if (needed < 0)
        return -1;
    if (n != sizeof r->told.head)
        return err_set(e, ERR_CONFLICT, 0,
                       "audit record %" PRId64 " has no proper hash: see 'belljar audit verify'",
                       a.seq);
    if (needed) {
        if (SQL_GROW(r->kept, r->n_kept, e))
            return -1;
        r->kept_bytes += bytes;
        if (copy_record(&a, &r->kept[r->n_kept++], e))
            return -1;
    }
    memcpy(r->told.head, hash, n);
    r->told.from = r->told.from ? r->told.from : a.seq;
    r->told.to = a.seq;
    r->told.bytes += bytes;
    if (!r->told.digests_from_ms && audit_rows_has_digest(a.detail))
        r->told.digests_from_ms = a.time_ms;
    return 0;
}

static int find_aged(struct db *db, const struct audit_bound *bound, struct removal *r,
                     struct err *e)
{
    enum { HOUR_MS = 3600 * 1000 };
    scoped(query) q = { 0 };
    int64_t margin = bound->max_age_ms / 8;
    r->before_ms = INT64_MIN;
    if (bound->max_age_ms <= 0)
        return 0;
    if (query_get(&q, db, SQL_AUDIT_OLDEST_TIME, e))
        return -1;
    int found = query_step(&q, e);
    if (found > 0 && take_int(&q) < bound->now_ms - bound->max_age_ms)
        r->before_ms = bound->now_ms - bound->max_age_ms + (margin < HOUR_MS ? margin : HOUR_MS);
    return found < 0 ? -1 : 0;
}

/* *ret_all: every record that should go, went. */
static int find_oldest(struct db *db, const struct audit_bound *bound, struct removal *r,
                       bool *ret_all, struct err *e)
{
    scoped(query) q = { 0 };
    if (query_get(&q, db, SQL_AUDIT_OLDEST, e))
        return -1;
    bind_int(&q, bound->sealed_seq);
    bind_int(&q, bound->batch);
    int found = 0, stays = 0;
    while (stays == 0 && (found = query_step(&q, e)) > 0)
        stays = take_oldest(db, &q, r, e);
    *ret_all = stays == 1;
    return found < 0 || stays < 0 ? -1 : 0;
}

/* ---- the record of it ---- */

static int record(struct db *db, const struct removal *r, int64_t now_ms, struct err *e)
{
    const struct audit_removal *t = &r->told;
    char hex[AUDIT_HASH_HEX], detail[512];
    (void)snprintf(detail, sizeof detail,
                   AUDIT_REMOVAL_DETAIL("%" PRId64, AUDIT_REMOVAL_AGE("%" PRId64), "%s"), t->from,
                   t->to, t->sealed, t->bytes, t->max_bytes, t->max_age_ms, t->digests_from_ms,
                   sodium_bin2hex(hex, sizeof hex, t->head, sizeof t->head));
    const struct audit_record a = { .time_ms = now_ms,
                                    .kind = AUDIT_REMOVED,
                                    .subject = "",
                                    .actor = "service",
                                    .detail = detail };
    return audit_append(db, &a, e);
}

static int append_kept(struct db *db, const struct removal *r, int64_t now_ms, struct err *e)
{
    for (size_t i = 0; i < r->n_kept; i++) {
        const struct audit_record a = { .time_ms = now_ms,
                                        .kind = r->kept[i].kind,
                                        .subject = r->kept[i].subject,
                                        .actor = r->kept[i].actor,
                                        .detail = r->kept[i].detail };
        if (audit_append(db, &a, e))
            return -1;
    }
    return 0;
}

/* Records of an earlier removal may be among the removed ones. */
static int inherit(struct db *db, struct removal *r, struct err *e)
{
    struct audit_removal before = { 0 };
    if (r->told.from <= 1) /* there was none, and to look for it would read all records */
        return 0;
    if (audit_removal_read(db, &before, e) < 0)
        return -1;
    if (before.digests_from_ms)
        r->told.digests_from_ms = before.digests_from_ms;
    return 0;
}

int audit_retain(struct db *db, struct audit_size *size, const struct audit_bound *bound,
                 bool *ret_more, int64_t *ret_removed, struct err *e)
{
    scoped(removal) r = { .told = { .sealed = bound->sealed_seq } };
    bool all;
    *ret_more = false;
    *ret_removed = 0;
    if (count(db, size, &all, e))
        return -1;
    *ret_more = !all;
    if (!all || bound->sealed_seq <= 0)
        return 0;
    if (find_aged(db, bound, &r, e))
        return -1;
    bool too_large = size->bytes > bound->max_bytes;
    if (!too_large && r.before_ms == INT64_MIN)
        return 0;
    r.excess = too_large ? size->bytes - bound->max_bytes / 4 * 3 : 0;
    r.told.max_bytes = too_large ? bound->max_bytes : 0;
    r.told.max_age_ms = too_large ? 0 : bound->max_age_ms;
    if (find_oldest(db, bound, &r, &all, e))
        return -1;
    if (r.told.to == 0)
        return 0;
    if (inherit(db, &r, e) || query_run_seq(db, SQL_AUDIT_REMOVE, r.told.to, e) ||
        append_kept(db, &r, bound->now_ms, e) || record(db, &r, bound->now_ms, e))
        return -1;
    size->bytes -= r.told.bytes;
    *ret_removed = r.told.to - r.told.from + 1;
    /* Where most records have to be kept, there is no hurry. */
    *ret_more = !all && *ret_removed == bound->batch && r.kept_bytes * 2 <= r.told.bytes;
    return 0;
}
