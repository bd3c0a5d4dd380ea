#include "store/audit_rows.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <search.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/text.h"
#include "store/db_query.h"
#include "store/digest.h"

/* ---- the tables ---- */

enum subject_class { RUN, APPROVAL, RULE, KEY, ARTIFACT, CLASS_COUNT_ };

static const struct {
    const char *noun;
    enum sql list; /* the subjects of all rows, each with the time of its creation */
    bool recorded; /* earlier versions, too, recorded every row */
    /* Earlier versions removed old rows and did not record it. Their records have no digest. */
    bool once_trimmed;
} classes[] = {
    [RUN] = { "run", SQL_BOUND_RUNS, true, .once_trimmed = true },
    [APPROVAL] = { "approval", SQL_BOUND_APPROVALS, true },
    [RULE] = { "rule", SQL_BOUND_RULES, false },
    [KEY] = { "key", SQL_BOUND_KEYS, true },
    [ARTIFACT] = { "artifact", SQL_BOUND_ARTIFACTS, false },
};

enum { CHANGES, REMOVES, REMOVES_LIST };
enum { ANY_TIME = 0 };

static const struct binding {
    const char *kind;
    enum subject_class of;
    enum sql row;  /* the values of the row of a subject */
    int effect;    /* REMOVES: there is no row afterwards. REMOVES_LIST: the detail names several */
    int is_newest; /* the statement that finds the subject while no later kind of record is due */
} bindings[] = {
    { "run.accepted", RUN, SQL_BOUND_RUN_ACCEPTED, CHANGES, SQL_RUN_IS_OPEN },
    { "run.finished", RUN, SQL_BOUND_RUN_FINISHED, CHANGES, SQL_RUN_IS_FINISHED },
    { "history.removed", RUN, SQL_BOUND_RUN_ACCEPTED, REMOVES_LIST, ANY_TIME },
    { "approval.requested", APPROVAL, SQL_BOUND_APPROVAL_REQUESTED, CHANGES,
      SQL_APPROVAL_IS_PENDING },
    { "approval.decided", APPROVAL, SQL_BOUND_APPROVAL_DECIDED, CHANGES, ANY_TIME },
    { "approvals.removed", APPROVAL, SQL_BOUND_APPROVAL_REQUESTED, REMOVES_LIST, ANY_TIME },
    { "rule.added", RULE, SQL_BOUND_RULE, CHANGES, ANY_TIME },
    { "rule.removed", RULE, SQL_BOUND_RULE, REMOVES, ANY_TIME },
    { "key.added", KEY, SQL_BOUND_KEY, CHANGES, ANY_TIME },
    { "key.removed", KEY, SQL_BOUND_KEY, REMOVES, ANY_TIME },
    { "artifact.created", ARTIFACT, SQL_BOUND_ARTIFACT, CHANGES, ANY_TIME },
    { "artifact.changed", ARTIFACT, SQL_BOUND_ARTIFACT, CHANGES, ANY_TIME },
    { "artifact.deleted", ARTIFACT, SQL_BOUND_ARTIFACT, REMOVES, ANY_TIME },
};

/* "key.added" and "key.added.kept" have the same one. */
static const struct binding *binding_of(const char *kind)
{
    for (size_t i = 0; i < ARRAY_LEN(bindings); i++) {
        size_t n = strlen(bindings[i].kind);
        if (strncmp(bindings[i].kind, kind, n) == 0 &&
            (kind[n] == '\0' || strcmp(kind + n, AUDIT_KEPT) == 0))
            return &bindings[i];
    }
    return NULL;
}

static bool is_kept(const char *kind)
{
    size_t n = strlen(kind), end = sizeof AUDIT_KEPT - 1;
    return n > end && strcmp(kind + n - end, AUDIT_KEPT) == 0;
}

/* The digest at the end of a detail; NULL: an earlier version wrote it, without one. */
static const char *digest_of(const char *detail, char ret[DIGEST_HEX])
{
    static const char start[] = "\"digest\":\"";
    size_t n = strlen(detail), tail = sizeof start - 1 + DIGEST_HEX - 1 + 2;
    if (n < tail || strncmp(detail + n - tail, start, sizeof start - 1) != 0)
        return NULL;
    (void)snprintf(ret, DIGEST_HEX, "%s", detail + n - tail + sizeof start - 1);
    return ret;
}

bool audit_rows_has_digest(const char *detail)
{
    char digest[DIGEST_HEX];
    return digest_of(detail, digest) != NULL;
}

/* ---- the digest of a row ---- */

static int add_output_file(const struct db *db, const char *id, struct digest *d, struct err *e)
{
    char path[320];
    (void)snprintf(path, sizeof path, "output/%s", id);
    autoclose int fd = openat(db->dir_fd, path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return err_set(e, ERR_KERNEL, errno, "open %s", path);
    return digest_add_file(d, fd, e);
}

/* 1: the digest of the row, 0: there is no such row, -1. */
static int row_digest(struct db *db, const struct binding *b, const char *subject,
                      char ret[DIGEST_HEX], struct err *e)
{
    struct digest d;
    scoped(query) q = { 0 };
    if (query_get(&q, db, b->row, e))
        return -1;
    bind_text(&q, subject);
    int found = query_step(&q, e);
    if (found <= 0)
        return found;
    digest_begin(&d);
    query_digest(&q, &d);
    if (b->row == SQL_BOUND_RUN_FINISHED && take_int(&q) != 0 &&
        add_output_file(db, subject, &d, e))
        return -1;
    (void)digest_end_hex(&d, ret);
    return 1;
}

int audit_rows_bind(struct db *db, const struct audit_record *r, struct buf *ret, struct err *e)
{
    const char *detail = r->detail && *r->detail ? r->detail : "{}";
    const struct binding *b = binding_of(r->kind);
    char digest[DIGEST_HEX];
    size_t n = strlen(detail);
    if (!b || b->effect != CHANGES || detail[n - 1] != '}' ||
        (is_kept(r->kind) && audit_rows_has_digest(detail)))
        return buf_add(ret, detail, n, e);
    int found = row_digest(db, b, r->subject, digest, e);
    if (found < 0)
        return -1;
    if (found == 0)
        return buf_add(ret, detail, n, e);
    return buf_addf(ret, e, "%.*s%s\"digest\":\"%s\"}", (int)n - 1, detail, n > 2 ? "," : "",
                    digest);
}

/* 1 or 0, -1. */
static int finds(struct db *db, enum sql id, const char *subject, struct err *e)
{
    scoped(query) q = { 0 };
    if (query_get(&q, db, id, e))
        return -1;
    bind_text(&q, subject);
    return query_step(&q, e);
}

int audit_rows_needs(struct db *db, const struct audit_record *r, struct err *e)
{
    const struct binding *b = binding_of(r->kind);
    char is[DIGEST_HEX] = "", was[DIGEST_HEX];
    if (!b || b->effect != CHANGES)
        return 0;
    int found = b->is_newest != ANY_TIME ? finds(db, (enum sql)b->is_newest, r->subject, e) : 1;
    /* A run is finished once, and the digest of its output may take long. */
    if (found <= 0 || b->row == SQL_BOUND_RUN_FINISHED)
        return found;
    found = row_digest(db, b, r->subject, is, e);
    if (found <= 0)
        return found;
    return !digest_of(r->detail, was) || strcmp(is, was) == 0;
}

/* ---- the check ---- */

/* The subjects of which a newer record was seen, as "class subject" in a tree of search.h. */
struct subjects {
    void *root;
};

static void subjects_done(struct subjects *s)
{
    tdestroy(s->root, free);
}

static int compare(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* 1: it is new, 0: it was there, -1. */
static int subjects_add(struct subjects *s, enum subject_class of, const char *subject,
                        struct err *e)
{
    autofree char *name = NULL;
    if (asprintf(&name, "%d %s", of, subject) < 0) {
        name = NULL;
        return err_no_memory(e, "the subjects of the audit log");
    }
    char **node = tsearch(name, &s->root, compare);
    if (!node)
        return err_no_memory(e, "the subjects of the audit log");
    if (*node != name)
        return 0;
    name = NULL; /* the tree has it */
    return 1;
}

[[gnu::format(printf, 3, 4)]]
static void broken(struct audit_check *c, int64_t seq, const char *fmt, ...)
{
    va_list args;
    c->broken_seq = seq;
    c->is_row = true;
    va_start(args, fmt);
    (void)vsnprintf(c->problem, sizeof c->problem, fmt, args);
    va_end(args);
}

struct check {
    struct db *db;
    struct audit_check *result;
    struct subjects seen;
    int64_t digests_from_ms; /* the time of the oldest record with a digest */
};

static void check_done(struct check *k)
{
    subjects_done(&k->seen);
}

static int check_row(struct check *k, const struct binding *b, int64_t seq, const char *subject,
                     const char *detail, struct err *e)
{
    char is[DIGEST_HEX] = "", was[DIGEST_HEX];
    const char *noun = classes[b->of].noun;
    int found = row_digest(k->db, b, subject, is, e);
    if (found < 0 && e->code == ERR_KERNEL && e->sys == ENOENT)
        broken(k->result, seq, "the output file of %s '%s' is missing", noun, QUOTED(subject));
    else if (found < 0)
        return -1;
    else if (b->effect != CHANGES && found)
        broken(k->result, seq, "%s '%s' is there, and this record says that it was removed", noun,
               QUOTED(subject));
    else if (b->effect == CHANGES && !found &&
             (!classes[b->of].once_trimmed || digest_of(detail, was)))
        broken(k->result, seq, "%s '%s' is missing, and no record says that it was removed", noun,
               QUOTED(subject));
    else if (found && digest_of(detail, was) && strcmp(is, was) != 0)
        broken(k->result, seq, "%s '%s' was changed: it does not have the digest of this record",
               noun, QUOTED(subject));
    k->result->rows += found > 0;
    return 0;
}

static int check_subject(struct check *k, const struct binding *b, int64_t seq, const char *subject,
                         const char *detail, struct err *e)
{
    int fresh = subjects_add(&k->seen, b->of, subject, e);
    if (fresh <= 0)
        return fresh;
    return check_row(k, b, seq, subject, detail, e);
}

/* {"runs":["run_1","run_2"]}: each string behind the bracket; ids need no escapes. */
static int check_list(struct check *k, const struct binding *b, int64_t seq, const char *detail,
                      struct err *e)
{
    const char *at = strchr(detail, '[');
    while (at && (at = strchr(at, '"')) && k->result->broken_seq == 0) {
        char id[96];
        size_t n = strcspn(at + 1, "\"");
        (void)snprintf(id, sizeof id, "%.*s", (int)(n < sizeof id ? n : sizeof id - 1), at + 1);
        if (check_subject(k, b, seq, id, detail, e))
            return -1;
        at += n + (at[n + 1] ? 2 : 1);
    }
    return 0;
}

static int check_records(struct check *k, struct err *e)
{
    scoped(query) q = { 0 };
    if (query_get(&q, k->db, SQL_AUDIT_DOWN, e))
        return -1;
    int found = 0;
    while (k->result->broken_seq == 0 && (found = query_step(&q, e)) > 0) {
        char digest[DIGEST_HEX];
        int64_t seq = take_int(&q), time_ms = take_int(&q);
        const struct binding *b = binding_of(peek_text(&q, NULL));
        const char *subject = peek_text(&q, NULL), *detail = peek_text(&q, NULL);
        if (digest_of(detail, digest))
            k->digests_from_ms = time_ms;
        if (b && (b->effect == REMOVES_LIST ? check_list(k, b, seq, detail, e)
                                            : check_subject(k, b, seq, subject, detail, e)))
            return -1;
    }
    return found < 0 ? -1 : 0;
}

/* A row without a record was added by somebody else. */
static int check_strangers(struct check *k, enum subject_class of, struct err *e)
{
    scoped(query) q = { 0 };
    if (query_get(&q, k->db, classes[of].list, e))
        return -1;
    int found = 0;
    while (k->result->broken_seq == 0 && (found = query_step(&q, e)) > 0) {
        const char *subject = peek_text(&q, NULL);
        int64_t created_ms = take_int(&q);
        int fresh = subjects_add(&k->seen, of, subject, e);
        if (fresh < 0)
            return -1;
        if (fresh && (classes[of].recorded || created_ms >= k->digests_from_ms))
            broken(k->result, k->result->removal.to + k->result->records, "%s '%s' has no record",
                   classes[of].noun, QUOTED(subject));
    }
    return found < 0 ? -1 : 0;
}

int audit_rows_check(struct db *db, struct audit_check *c, struct err *e)
{
    scoped(check) k = { .db = db, .result = c, .digests_from_ms = INT64_MAX };
    if (check_records(&k, e))
        return -1;
    if (c->removal.digests_from_ms)
        k.digests_from_ms = c->removal.digests_from_ms;
    for (int of = 0; of < CLASS_COUNT_ && c->broken_seq == 0; of++)
        if (check_strangers(&k, (enum subject_class)of, e))
            return -1;
    return 0;
}
