#include "store/audit_retain.h"

#include "base/array.h"
#include "base/auto.h"
#include "database.h"
#include "store/key_rows.h"

enum { RECORDS = 100, MAX_BYTES = 8000, BATCH = 30 };

/* A log with its seals, which nobody signs here: test_store_seal.c looks at signatures. */
struct log {
    struct database d;
    struct audit_seal all[8];
    struct audit_seals seals;
    struct audit_size size;
    int64_t max_bytes, max_age_ms;
};

static void log_done(struct log *l)
{
    database_done(&l->d);
}

static bool add(struct log *l, int n)
{
    struct err e = { 0 };
    for (int i = 0; i < n; i++)
        if (!OK(audit_append(l->d.db,
                             &(struct audit_record){ .time_ms = 1000 + i,
                                                     .kind = "service.stopped",
                                                     .subject = "a subject of some length",
                                                     .actor = "service",
                                                     .detail = "{\"text\":\"a detail\"}" },
                             &e)))
            return false;
    return true;
}

static bool seal(struct log *l)
{
    struct err e = { 0 };
    struct audit_head head;
    if (!CHECK(l->seals.n < ARRAY_LEN(l->all)) || !OK(audit_head(l->d.db, &head, &e)))
        return false;
    struct audit_seal *s = &l->all[l->seals.n++];
    *s = (struct audit_seal){ .epoch = l->seals.n - 1, .seq = head.seq, .time_ms = 1 };
    memcpy(s->head, head.hash, sizeof s->head);
    l->seals.at = l->all;
    return true;
}

static bool add_key(struct log *l, const char *name)
{
    struct err e = { 0 };
    struct key_row k = { .scopes = SCOPE_BIT(SCOPE_RUN), .created_ms = 5 };
    char text[KEY_TEXT_MAX];
    (void)snprintf(k.name, sizeof k.name, "%s", name);
    return OK(key_make(text, k.hash, &e)) && OK(keys_add(l->d.db, &k, "service", &e));
}

/* One step, in a transaction; the number of removed records. */
static int64_t step(struct log *l, int64_t sealed_seq, bool *ret_more)
{
    struct err e = { 0 };
    int64_t removed = -1;
    struct audit_bound bound = {
        .max_bytes = l->max_bytes,
        .max_age_ms = l->max_age_ms,
        .sealed_seq = sealed_seq,
        .now_ms = 7777,
        .batch = BATCH,
    };
    OK(db_begin(l->d.db, &e));
    OK(audit_retain(l->d.db, &l->size, &bound, ret_more, &removed, &e));
    OK(db_commit(l->d.db, &e));
    return removed;
}

static int64_t shrink(struct log *l)
{
    bool more = true;
    int64_t removed = 0;
    for (int i = 0; i < 100 && more; i++)
        removed += step(l, l->all[l->seals.n - 1].seq, &more);
    CHECK(!more);
    return removed;
}

static struct audit_check verify(struct log *l)
{
    struct err e = { 0 };
    struct audit_check c = { 0 };
    OK(audit_verify(l->d.db, l->seals.n ? &l->seals : NULL, &c, &e));
    return c;
}

/* A key, then records, all sealed; larger than the bound. */
static bool log_init(struct log *l)
{
    *l = (struct log){ .max_bytes = MAX_BYTES };
    return database_init(&l->d) && add_key(l, "old") && add(l, RECORDS / 2) && seal(l) &&
           add(l, RECORDS / 2) && seal(l);
}

static bool holds(struct log *l)
{
    struct audit_check c = verify(l);
    return CHECK_INT(c.broken_seq, 0) || (printf("    %s\n", c.problem), false);
}

static void test_a_log_within_its_bound_stays(void)
{
    bool more = true;
    scoped(log) l = { .max_bytes = MAX_BYTES };
    if (!CHECK(database_init(&l.d) && add(&l, 10) && seal(&l)))
        return;
    CHECK_INT(step(&l, 10, &more), 0);
    CHECK(!more);
    CHECK_INT(verify(&l).records, 10);
    CHECK_INT(verify(&l).removal.to, 0);
}

static void test_the_oldest_records_go_and_the_rest_verifies(void)
{
    scoped(log) l;
    if (!CHECK(log_init(&l)))
        return;
    int64_t before = verify(&l).records, removed = shrink(&l);
    struct audit_check c = verify(&l);
    CHECK(removed > RECORDS / 4 && removed < RECORDS);
    CHECK(holds(&l));
    CHECK_INT(c.removal.to, removed);
    CHECK_INT(c.removal.time_ms, 7777);
    CHECK_INT(c.removal.max_bytes, MAX_BYTES);
    CHECK(l.size.bytes <= MAX_BYTES);
    CHECK(c.records < before && c.unsealed > 0);
    CHECK_INT(c.rows, 1);
    /* and again, with the records of the first time among the removed ones */
    CHECK(seal(&l) && add(&l, RECORDS) && seal(&l));
    CHECK(shrink(&l) > RECORDS / 2);
    CHECK(verify(&l).removal.to > removed);
    CHECK(holds(&l));
    CHECK_INT(verify(&l).rows, 1);
}

static void test_records_that_are_not_sealed_stay(void)
{
    bool more;
    scoped(log) l;
    if (!CHECK(log_init(&l)))
        return;
    CHECK_INT(step(&l, 0, &more), 0);
    CHECK_INT(step(&l, 3, &more), 3);
    CHECK(!more);
    /* the end stays, too: the next record is numbered after it */
    CHECK(seal(&l));
    struct audit_head head;
    struct err e = { 0 };
    CHECK_INT(audit_head(l.d.db, &head, &e), 0);
    l.max_bytes = 1;
    for (more = true; more;)
        (void)step(&l, head.seq, &more);
    CHECK_INT(verify(&l).removal.to, head.seq);
    CHECK(seal(&l) && audit_head(l.d.db, &head, &e) == 0 && step(&l, head.seq, &more) > 0);
    CHECK_INT(verify(&l).removal.to, head.seq - 1);
    CHECK(holds(&l));
}

static void test_rows_keep_their_records(void)
{
    static const char change[] = "UPDATE keys SET scopes = 'admin' WHERE name = 'old'";
    for (int before = 0; before < 2; before++) {
        scoped(log) l;
        if (!CHECK(log_init(&l)))
            return;
        if (before)
            CHECK(meddle(&l.d.place, change));
        CHECK(shrink(&l) > 0);
        if (!before)
            CHECK(holds(&l) && meddle(&l.d.place, change));
        struct audit_check c = verify(&l);
        CHECK(c.broken_seq != 0 && c.is_row);
        CHECK(strstr(c.problem, before ? "key 'old' has no record" : "key 'old' was changed"));
    }
}

/* The removed record of an earlier key is not taken for one about a later key of the same name. */
static void test_a_newer_record_stays_the_newest(void)
{
    struct err e = { 0 };
    scoped(log) l;
    if (!CHECK(log_init(&l)))
        return;
    OK(keys_remove(l.d.db, "old", "service", 8, &e));
    CHECK(add_key(&l, "old") && seal(&l));
    CHECK(shrink(&l) > 0);
    CHECK(holds(&l));
    CHECK(meddle(&l.d.place, "DELETE FROM keys"));
    CHECK(verify(&l).is_row);
}

static bool note(struct log *l, const char *kind, const char *subject)
{
    struct err e = { 0 };
    return OK(audit_append(
        l->d.db,
        &(struct audit_record){
            .time_ms = 6, .kind = kind, .subject = subject, .actor = "service", .detail = "{}" },
        &e));
}

/* The first record about a run or an approval describes its row until the second one. */
static void test_runs_and_approvals_keep_the_record_of_their_state(void)
{
    static const char rows[] =
        "INSERT INTO runs (seq, id, state, created_ms, bytes) VALUES "
        "(1, 'run_open', 'running', 1, 1), (2, 'run_over', 'finished', 1, 1);"
        "INSERT INTO run_input VALUES (1, 'a', '{}'), (2, 'b', '{}');"
        "INSERT INTO run_output VALUES (2, '{}', NULL, NULL);"
        "INSERT INTO approvals (id, decision, created_ms, expires_ms) VALUES "
        "('apr_pending', 'pending', 1, 1), ('apr_decided', 'approve', 1, 1)";
    static const char *const changes[] = {
        "UPDATE run_input SET code = 'x' WHERE seq = 1",
        "UPDATE run_output SET result = 'x' WHERE seq = 2",
        "UPDATE approvals SET input = 'x' WHERE id = 'apr_pending'",
        "UPDATE approvals SET decided_by = 'x' WHERE id = 'apr_decided'",
    };
    for (size_t i = 0; i < 2 * ARRAY_LEN(changes); i++) {
        int late = i % 2 ? RECORDS : 0; /* the second ones stay where they are */
        scoped(log) l = { .max_bytes = MAX_BYTES };
        if (!CHECK(database_init(&l.d) && meddle(&l.d.place, rows) &&
                   note(&l, "run.accepted", "run_open") && note(&l, "run.accepted", "run_over") &&
                   note(&l, "approval.requested", "apr_pending") &&
                   note(&l, "approval.requested", "apr_decided") && add(&l, late) &&
                   note(&l, "run.finished", "run_over") &&
                   note(&l, "approval.decided", "apr_decided") && add(&l, RECORDS - late) &&
                   seal(&l)))
            return;
        CHECK(shrink(&l) > 6 && holds(&l));
        CHECK_INT(verify(&l).rows, 4);
        CHECK(meddle(&l.d.place, changes[i / 2]));
        CHECK(strstr(verify(&l).problem, "was changed"));
    }
}

static void test_other_removals_are_found(void)
{
    static const struct {
        const char *sql, *told;
    } changes[] = {
        { "DELETE FROM audit WHERE seq = (SELECT min(seq) FROM audit)", "is missing" },
        { "DELETE FROM audit WHERE seq < (SELECT min(seq) + 9 FROM audit)", "is missing" },
        { "DELETE FROM audit WHERE kind = 'audit.removed'", "is missing" },
        { "UPDATE audit SET kind = 'x' WHERE kind = 'audit.removed'", "record 1 is missing" },
        { "UPDATE audit SET detail = '{}' WHERE kind = 'audit.removed'", "does not say" },
        { "UPDATE audit SET detail = replace(detail, '\"max_bytes\":8', '\"max_bytes\":9') "
          "WHERE kind = 'audit.removed'",
          "was changed" },
        { "UPDATE audit SET detail = replace(detail, '\"head\":\"', '\"head\":\"00') "
          "WHERE kind = 'audit.removed'",
          "does not say" },
        { "UPDATE audit SET detail = 'x' WHERE seq = (SELECT min(seq) FROM audit)", "was changed" },
        { "INSERT INTO audit SELECT 1, time_ms, kind, subject, actor, detail, hash FROM audit "
          "LIMIT 1",
          "is missing" },
    };
    for (size_t i = 0; i < ARRAY_LEN(changes); i++) {
        scoped(log) l;
        if (!CHECK(log_init(&l) && shrink(&l) > 0 && meddle(&l.d.place, changes[i].sql)))
            return;
        struct audit_check c = verify(&l);
        if (!CHECK(c.broken_seq != 0 && strstr(c.problem, changes[i].told)))
            printf("    %s: %s\n", changes[i].sql, c.problem);
    }
}

static void test_a_removal_must_have_been_sealed(void)
{
    scoped(log) l;
    bool more;
    if (!CHECK(log_init(&l)))
        return;
    CHECK(step(&l, l.all[1].seq - 1, &more) > 0); /* no seal is about that record */
    CHECK(strstr(verify(&l).problem, "were not sealed"));
    l.seals.n = 0;
    CHECK(strstr(verify(&l).problem, "were not sealed"));
}

/* The seal of the last removed record, or of a later one, proves the hash that the chain begins
 * with. */
static void test_the_hash_of_the_removed_records_is_proven(void)
{
    for (int of_last = 0; of_last < 2; of_last++) {
        scoped(log) l;
        if (!CHECK(log_init(&l) && shrink(&l) > 0 && holds(&l)))
            return;
        struct audit_check c = verify(&l);
        if (of_last)
            l.all[0] = (struct audit_seal){ .seq = c.removal.to };
        else
            l.all[1].head[0] ^= 1;
        CHECK(strstr(verify(&l).problem, "is not the one that was sealed"));
    }
}

/* Records of 1000 to 1019 ms; it is 7777 ms. */
static void test_records_that_are_too_old_go(void)
{
    bool more;
    scoped(log) l = { .max_bytes = 1 << 20, .max_age_ms = 7777 - 1000 };
    if (!CHECK(database_init(&l.d) && add(&l, 20) && seal(&l)))
        return;
    CHECK_INT(step(&l, 20, &more), 0); /* none is older */
    l.max_age_ms = 7777 - 1001;        /* the first is; the others follow within an eighth of it */
    CHECK_INT(shrink(&l), 19);         /* the last record stays */
    struct audit_check c = verify(&l);
    CHECK_INT(c.broken_seq, 0);
    CHECK(c.removal.from == 1 && c.removal.to == 19);
    CHECK(c.removal.max_bytes == 0 && c.removal.max_age_ms == 7777 - 1001);
    CHECK_INT(step(&l, 20, &more), 0);
}

static void test_a_record_that_is_not_sealed_may_get_any_age(void)
{
    scoped(log) l = { .max_bytes = 1 << 20, .max_age_ms = 100 };
    if (!CHECK(database_init(&l.d) && add(&l, 10) && seal(&l) && add(&l, 10)))
        return;
    CHECK_INT(shrink(&l), 10);
    CHECK_INT(verify(&l).removal.to, 10);
    CHECK(holds(&l));
}

/* Seals go with all their records, or not at all. */
static void test_seals_without_their_records_are_told(void)
{
    scoped(log) l;
    if (!CHECK(log_init(&l)))
        return;
    CHECK(shrink(&l) > 0 && holds(&l));
    int64_t to = verify(&l).removal.to;
    l.seals.dropped_seq = to;
    CHECK(holds(&l));
    l.seals.dropped_seq = to + 1;
    struct audit_check c = verify(&l);
    CHECK_INT(c.broken_seq, to + 1);
    CHECK(strstr(c.problem, "the seals of records up to"));
}

static const struct check_test tests[] = {
    TEST(test_records_that_are_too_old_go),
    TEST(test_a_record_that_is_not_sealed_may_get_any_age),
    TEST(test_seals_without_their_records_are_told),
    TEST(test_a_log_within_its_bound_stays),
    TEST(test_the_oldest_records_go_and_the_rest_verifies),
    TEST(test_records_that_are_not_sealed_stay),
    TEST(test_rows_keep_their_records),
    TEST(test_a_newer_record_stays_the_newest),
    TEST(test_runs_and_approvals_keep_the_record_of_their_state),
    TEST(test_other_removals_are_found),
    TEST(test_a_removal_must_have_been_sealed),
    TEST(test_the_hash_of_the_removed_records_is_proven),
};
CHECK_MAIN(tests)
