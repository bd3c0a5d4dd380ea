#include "store/audit_log.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/auto.h"
#include "store/audit_rows.h"
#include "store/db_query.h"
#include "store/digest.h"

enum { HASH_BYTES = SQL_HASH_BYTES };
static_assert(HASH_BYTES * 2 + 1 == AUDIT_HASH_HEX, "a hash in hex, and its end");

struct hash_part {
    const void *bytes;
    size_t n;
};

static void chain(uint8_t ret[HASH_BYTES], const uint8_t before[HASH_BYTES], int64_t seq,
                  int64_t time_ms, const struct hash_part texts[4])
{
    struct digest d;
    digest_begin(&d);
    digest_add(&d, before, HASH_BYTES);
    digest_add_number(&d, (uint64_t)seq);
    digest_add_number(&d, (uint64_t)time_ms);
    for (int i = 0; i < 4; i++)
        digest_add(&d, texts[i].bytes, texts[i].n);
    digest_end(&d, ret);
}

static int read_head(struct db *db, struct err *e)
{
    struct audit_head head;
    if (audit_head(db, &head, e))
        return -1;
    db->audit.seq = head.seq;
    memcpy(db->audit.hash, head.hash, sizeof db->audit.hash);
    db->audit.known = sql_in_transaction(db);
    return 0;
}

int audit_append(struct db *db, const struct audit_record *r, struct err *e)
{
    uint8_t hash[HASH_BYTES];
    scoped(buf) detail = { 0 };
    struct hash_part pieces[4];
    if ((!db->audit.known && read_head(db, e)) || audit_rows_bind(db, r, &detail, e))
        return -1;
    const char *texts[] = { r->kind, r->subject, r->actor, buf_str(&detail) };
    for (int i = 0; i < 4; i++) {
        texts[i] = texts[i] ? texts[i] : "";
        pieces[i] = (struct hash_part){ texts[i], strlen(texts[i]) };
    }
    int64_t seq = db->audit.seq + 1;
    chain(hash, db->audit.hash, seq, r->time_ms, pieces);
    scoped(query) q = { 0 };
    if (query_get(&q, db, SQL_AUDIT_INSERT, e))
        return -1;
    bind_int(&q, seq);
    bind_int(&q, r->time_ms);
    for (int i = 0; i < 4; i++)
        bind_text(&q, texts[i]);
    bind_blob(&q, hash, sizeof hash);
    if (query_run(&q, e))
        return -1;
    db->audit.seq = seq;
    memcpy(db->audit.hash, hash, sizeof hash);
    return 0;
}

/* A stored record. Its texts are borrowed until the next step. */
struct stored {
    int64_t seq, time_ms;
    struct hash_part texts[4], hash;
};

static void read_record(struct query *q, struct stored *s)
{
    s->seq = take_int(q);
    s->time_ms = take_int(q);
    for (int i = 0; i < 4; i++)
        s->texts[i].bytes = peek_text(q, &s->texts[i].n);
    s->hash.bytes = peek_blob(q, &s->hash.n);
}

static const char *to_hex(char out[AUDIT_HASH_HEX], const struct hash_part *hash)
{
    size_t n = hash->n < HASH_BYTES ? hash->n : HASH_BYTES;
    return sodium_bin2hex(out, AUDIT_HASH_HEX, hash->bytes ? hash->bytes : (const uint8_t *)"", n);
}

[[gnu::format(printf, 3, 4)]]
static void broken(struct audit_check *c, int64_t seq, const char *fmt, ...)
{
    va_list args;
    c->broken_seq = seq;
    va_start(args, fmt);
    (void)vsnprintf(c->problem, sizeof c->problem, fmt, args);
    va_end(args);
}

/* Checks the record against its predecessor. `hash` holds the predecessor's hash before and this
 * record's afterwards. */
static void check_record(const struct stored *s, uint8_t hash[HASH_BYTES], struct audit_check *c)
{
    uint8_t expected[HASH_BYTES];
    int64_t due = c->removal.to + c->records + 1;
    if (s->seq != due) {
        broken(c, due, "record %lld is missing: after %lld comes %lld", (long long)due,
               (long long)due - 1, (long long)s->seq);
        return;
    }
    chain(expected, hash, s->seq, s->time_ms, s->texts);
    if (s->hash.n != HASH_BYTES || sodium_memcmp(expected, s->hash.bytes, HASH_BYTES) != 0) {
        broken(c, s->seq,
               "record %lld was changed: its hash does not follow from it and "
               "the record before",
               (long long)s->seq);
        return;
    }
    memcpy(hash, expected, HASH_BYTES);
    c->records++;
}

void audit_next_hash(const struct audit_record *r, uint8_t hash[DIGEST_BYTES])
{
    uint8_t before[HASH_BYTES];
    const char *texts[] = { r->kind, r->subject, r->actor, r->detail };
    struct hash_part pieces[4];
    for (int i = 0; i < 4; i++)
        pieces[i] = (struct hash_part){ texts[i], strlen(texts[i]) };
    memcpy(before, hash, sizeof before);
    chain(hash, before, r->seq, r->time_ms, pieces);
}

int audit_head(struct db *db, struct audit_head *ret, struct err *e)
{
    scoped(query) q = { 0 };
    size_t n;
    *ret = (struct audit_head){ 0 };
    if (query_get(&q, db, SQL_AUDIT_HEAD, e))
        return -1;
    int found = query_step(&q, e);
    if (found <= 0)
        return found;
    int64_t seq = take_int(&q);
    const void *hash = peek_blob(&q, &n);
    if (n != HASH_BYTES)
        return err_set(e, ERR_KERNEL, 0,
                       "%s: audit record %lld has no proper hash: see 'belljar audit verify'",
                       db->path, (long long)seq);
    ret->seq = seq;
    memcpy(ret->hash, hash, n);
    ret->first = take_int(&q);
    return 0;
}

/* A read of the records of the chain, beside the seals that it meets. */
struct reading {
    const struct audit_seals *seals;
    size_t next; /* seal */
    bool was_started;
    bool without_seals; /* they are not looked at */
};

static void check_seal(struct reading *r, int64_t seq, const uint8_t hash[HASH_BYTES],
                       struct audit_check *c)
{
    for (; r->seals && r->next < r->seals->n && r->seals->at[r->next].seq == seq; r->next++)
        if (memcmp(r->seals->at[r->next].head, hash, HASH_BYTES) != 0)
            broken(c, seq, "record %lld is not the one that was sealed: the log was rewritten",
                   (long long)seq);
}

/* Seals may be dropped only with all records that they are about. */
static void check_dropped(const struct reading *r, struct audit_check *c)
{
    if (c->broken_seq == 0 && r->seals && r->seals->dropped_seq > c->removal.to)
        broken(c, c->removal.to + 1,
               "the seals of records up to %lld are missing, and these records are not removed",
               (long long)r->seals->dropped_seq);
}

/* Seals that no record was met for. */
static void check_end(const struct reading *r, struct audit_check *c)
{
    const struct audit_seals *all = r->seals;
    if (all && r->next < all->n)
        broken(c, all->at[r->next].seq,
               "record %lld was sealed and is missing: the end of the log was cut off",
               (long long)all->at[r->next].seq);
    else if (r->was_started && !all && !r->without_seals)
        broken(c, 1,
               "there are no seals, although a service has run: STATE/audit.seals is missing");
    c->unsealed = c->removal.to + c->records - (all && all->n ? all->at[all->n - 1].seq : 0);
}

/* False if the detail is not one that audit_retain() writes. Before there was a bound for the age,
 * it wrote the same without that member. */
static bool parse_removal(const char *detail, struct audit_removal *r)
{
    char hex[AUDIT_HASH_HEX] = "";
    int end = 0;
    size_t n;
    if (sscanf(detail,
               AUDIT_REMOVAL_DETAIL("%" SCNd64, AUDIT_REMOVAL_AGE("%" SCNd64), "%64[0-9a-f]") "%n",
               &r->from, &r->to, &r->sealed, &r->bytes, &r->max_bytes, &r->max_age_ms,
               &r->digests_from_ms, hex, &end) != 8) {
        r->max_age_ms = 0;
        if (sscanf(detail, AUDIT_REMOVAL_DETAIL("%" SCNd64, "", "%64[0-9a-f]") "%n", &r->from,
                   &r->to, &r->sealed, &r->bytes, &r->max_bytes, &r->digests_from_ms, hex,
                   &end) != 7)
            return false;
    }
    return end > 0 && detail[end] == '\0' &&
           sodium_hex2bin(r->head, sizeof r->head, hex, strlen(hex), NULL, &n, NULL) == 0 &&
           n == sizeof r->head && r->from > 0 && r->from <= r->to && r->to <= r->sealed &&
           r->sealed < r->seq;
}

int audit_removal_read(struct db *db, struct audit_removal *ret, struct err *e)
{
    scoped(query) q = { 0 };
    if (query_get(&q, db, SQL_AUDIT_REMOVAL, e))
        return -1;
    int found = query_step(&q, e);
    if (found <= 0)
        return found;
    struct audit_removal r = { .seq = take_int(&q), .time_ms = take_int(&q) };
    if (!parse_removal(peek_text(&q, NULL), &r))
        r = (struct audit_removal){ .seq = r.seq, .time_ms = r.time_ms };
    *ret = r;
    return 1;
}

/* Records may be removed only if they were sealed, and only with a record of it. Seals of removed
 * records have nothing to be compared with. The hash that the chain begins with follows from the
 * later seal: with another one, the sealed record would have another hash, too. */
static int check_removal(struct db *db, struct reading *r, uint8_t hash[HASH_BYTES],
                         struct audit_check *c, struct err *e)
{
    const struct audit_removal *m = &c->removal;
    bool covered = false;
    int found = audit_removal_read(db, &c->removal, e);
    if (found <= 0)
        return found;
    r->was_started = true;
    memcpy(hash, m->head, HASH_BYTES);
    for (size_t i = 0; r->seals && i < r->seals->n; i++) {
        covered |= r->seals->at[i].seq == m->sealed;
        r->next += r->seals->at[i].seq < m->to;
    }
    if (m->to == 0)
        broken(c, m->seq, "record %lld does not say which records were removed", (long long)m->seq);
    else if (!covered && !r->without_seals)
        broken(c, m->seq,
               "record %lld says that records up to %lld were removed, but they were not sealed",
               (long long)m->seq, (long long)m->to);
    else
        check_seal(r, m->to, hash, c);
    return 0;
}

static int check_chain(struct db *db, struct reading *r, struct audit_check *c, struct err *e)
{
    uint8_t hash[HASH_BYTES] = { 0 };
    scoped(query) q = { 0 };
    if (check_removal(db, r, hash, c, e))
        return -1;
    check_dropped(r, c);
    (void)to_hex(c->before, &(struct hash_part){ hash, HASH_BYTES });
    if (query_get(&q, db, SQL_AUDIT_AFTER, e))
        return -1;
    bind_int(&q, INT64_MIN);
    bind_int(&q, -1); /* no limit */
    int found = 0;
    while (c->broken_seq == 0 && (found = query_step(&q, e)) > 0) {
        struct stored s;
        read_record(&q, &s);
        check_record(&s, hash, c);
        r->was_started |= strcmp(s.texts[0].bytes, "service.started") == 0;
        if (c->broken_seq == 0)
            check_seal(r, s.seq, hash, c);
    }
    if (found < 0)
        return -1;
    if (c->broken_seq == 0)
        check_end(r, c);
    (void)to_hex(c->head, &(struct hash_part){ hash, HASH_BYTES });
    return 0;
}

static int verify(struct db *db, struct reading r, struct audit_check *ret, struct err *e)
{
    struct audit_check c = { 0 };
    bool own = !sql_in_transaction(db);
    if (own && db_begin(db, e))
        return -1;
    int rc = check_chain(db, &r, &c, e) || (c.broken_seq == 0 && audit_rows_check(db, &c, e)) ? -1
                                                                                              : 0;
    if (own)
        db_rollback(db);
    *ret = c;
    return rc;
}

int audit_verify(struct db *db, const struct audit_seals *seals, struct audit_check *ret,
                 struct err *e)
{
    return verify(db, (struct reading){ .seals = seals }, ret, e);
}

int audit_verify_chain(struct db *db, struct audit_check *ret, struct err *e)
{
    return verify(db, (struct reading){ .without_seals = true }, ret, e);
}

int audit_each(struct db *db, int64_t after_seq, unsigned limit,
               int (*each)(void *context, const struct audit_record *r), void *context,
               struct err *e)
{
    scoped(query) q = { 0 };
    if (query_get(&q, db, SQL_AUDIT_AFTER, e))
        return -1;
    bind_int(&q, after_seq);
    bind_int(&q, limit);
    int found;
    while ((found = query_step(&q, e)) > 0) {
        struct stored s;
        char hex[AUDIT_HASH_HEX];
        read_record(&q, &s);
        struct audit_record r = { .seq = s.seq,
                                  .time_ms = s.time_ms,
                                  .kind = s.texts[0].bytes,
                                  .subject = s.texts[1].bytes,
                                  .actor = s.texts[2].bytes,
                                  .detail = s.texts[3].bytes,
                                  .hash = to_hex(hex, &s.hash) };
        if (each(context, &r))
            return 0;
    }
    return found;
}
