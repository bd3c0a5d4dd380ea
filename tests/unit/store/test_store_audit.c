#include "store/audit_log.h"

#include "base/array.h"
#include "base/auto.h"
#include "database.h"

static bool append(struct db *db, int64_t time_ms, const char *subject)
{
    struct err e = { 0 };
    return OK(audit_append(db,
                           &(struct audit_record){ .time_ms = time_ms,
                                                   .kind = "service.stopped",
                                                   .subject = subject,
                                                   .actor = "unix:1000",
                                                   .detail = "{\"n\":1}" },
                           &e));
}

/* Five records. */
static bool chain_init(struct database *d)
{
    if (!database_init(d))
        return false;
    for (int i = 1; i <= 5; i++)
        if (!append(d->db, 1000 + i, "run_1"))
            return false;
    return true;
}

static struct audit_check verify(struct db *db)
{
    struct err e = { 0 };
    struct audit_check c = { 0 };
    OK(audit_verify(db, NULL, &c, &e));
    return c;
}

static void test_an_empty_chain_holds(void)
{
    scoped(database) d;
    if (!database_init(&d))
        return;
    struct audit_check c = verify(d.db);
    CHECK_INT(c.broken_seq, 0);
    CHECK_INT(c.records, 0);
    CHECK_STR(c.head, "0000000000000000000000000000000000000000000000000000000000000000");
}

static void test_an_untouched_chain_holds(void)
{
    scoped(database) d;
    if (!chain_init(&d))
        return;
    struct audit_check c = verify(d.db);
    CHECK_INT(c.broken_seq, 0);
    CHECK_INT(c.records, 5);
    CHECK_INT(strlen(c.head), 64);
    CHECK_STR(c.problem, "");
}

/* The format of the hash is a promise: a chain of today is verified by a program of tomorrow. */
static void test_the_hash_of_a_known_record_stays(void)
{
    scoped(database) d;
    if (!database_init(&d) || !append(d.db, 1, "s"))
        return;
    CHECK_STR(verify(d.db).head,
              "37996a927b46fc3a525a3bc865a973082bb1f205d5d2d356643df76f15ac9681");
}

static void test_every_change_is_found_where_it_was_made(void)
{
    static const struct {
        const char *sql;
        int broken;
    } changes[] = {
        { "UPDATE audit SET time_ms = time_ms + 1 WHERE seq = 3", 3 },
        { "UPDATE audit SET kind = 'run.finished' WHERE seq = 3", 3 },
        { "UPDATE audit SET subject = 'run_2' WHERE seq = 1", 1 },
        { "UPDATE audit SET actor = 'unix:0' WHERE seq = 5", 5 },
        { "UPDATE audit SET detail = '{}' WHERE seq = 2", 2 },
        { "UPDATE audit SET detail = detail || char(0) || 'x' WHERE seq = 2", 2 },
        { "UPDATE audit SET hash = zeroblob(32) WHERE seq = 4", 4 },
        { "UPDATE audit SET hash = x'' WHERE seq = 4", 4 },
        { "UPDATE audit SET subject = 'run_1u', actor = 'nix:1000' WHERE seq = 3", 3 },
        { "DELETE FROM audit WHERE seq = 3", 3 },
        { "DELETE FROM audit WHERE seq = 1", 1 },
        { "DELETE FROM audit WHERE seq = 3; UPDATE audit SET seq = seq - 1 WHERE seq > 3", 3 },
        { "UPDATE audit SET seq = 100 WHERE seq = 2; UPDATE audit SET seq = 2 WHERE seq = 3;"
          "UPDATE audit SET seq = 3 WHERE seq = 100",
          2 },
        { "INSERT INTO audit SELECT 6, time_ms, kind, subject, actor, detail, hash FROM audit "
          "WHERE seq = 5",
          6 },
        { "INSERT INTO audit SELECT 0, time_ms, kind, subject, actor, detail, hash FROM audit "
          "WHERE seq = 5",
          1 },
        { "INSERT INTO audit SELECT -5, time_ms, kind, subject, actor, detail, hash FROM audit "
          "WHERE seq = 5",
          1 },
        { "UPDATE audit SET seq = 100 WHERE seq = 5; UPDATE audit SET seq = 5 WHERE seq = 4;"
          "INSERT INTO audit SELECT 4, time_ms, kind, subject, actor, detail, hash FROM audit "
          "WHERE seq = 1; UPDATE audit SET seq = 6 WHERE seq = 100",
          4 },
    };
    for (size_t i = 0; i < ARRAY_LEN(changes); i++) {
        scoped(database) d;
        if (!chain_init(&d) || !meddle(&d.place, changes[i].sql))
            return;
        struct audit_check c = verify(d.db);
        if (!CHECK_INT(c.broken_seq, changes[i].broken))
            printf("    %s\n", changes[i].sql);
        CHECK_INT(c.records, c.broken_seq - 1);
        CHECK(c.problem[0] != '\0');
    }
}

static void test_a_tail_cut_off_shows_against_the_head(void)
{
    scoped(database) d;
    if (!chain_init(&d))
        return;
    struct audit_check whole = verify(d.db);
    if (!meddle(&d.place, "DELETE FROM audit WHERE seq = 5"))
        return;
    struct audit_check cut = verify(d.db);
    CHECK_INT(cut.broken_seq, 0);
    CHECK(strcmp(whole.head, cut.head) != 0);
}

static void test_what_was_rolled_back_is_not_in_the_chain(void)
{
    struct err e = { 0 };
    scoped(database) d;
    if (!chain_init(&d))
        return;
    OK(db_begin(d.db, &e));
    append(d.db, 1, "lost");
    append(d.db, 2, "lost");
    db_rollback(d.db);
    append(d.db, 3, "kept");
    struct audit_check c = verify(d.db);
    CHECK_INT(c.broken_seq, 0);
    CHECK_INT(c.records, 6);
}

/* The service and a command append to one chain. */
static void test_two_processes_append_to_one_chain(void)
{
    struct err e = { 0 };
    struct db *other = NULL;
    scoped(database) d;
    if (!chain_init(&d) || !OK(db_open(&other, d.place.path, DB_WRITE, &e)))
        return;
    for (int i = 0; i < 4; i++) {
        struct db *db = i % 2 ? other : d.db;
        OK(db_begin(db, &e));
        append(db, i, "a");
        append(db, i, "b");
        OK(db_commit(db, &e));
    }
    db_close(other);
    struct audit_check c = verify(d.db);
    CHECK_INT(c.broken_seq, 0);
    CHECK_INT(c.records, 13);
}

struct seen {
    int64_t first, last;
    int n, stop_after;
};

static int see(void *context, const struct audit_record *r)
{
    struct seen *s = context;
    s->first = s->n == 0 ? r->seq : s->first;
    s->last = r->seq;
    CHECK_INT(r->time_ms, 1000 + r->seq);
    CHECK_STR(r->kind, "service.stopped");
    CHECK_STR(r->subject, "run_1");
    CHECK_STR(r->actor, "unix:1000");
    CHECK_STR(r->detail, "{\"n\":1}");
    CHECK_INT(strlen(r->hash), 64);
    return ++s->n == s->stop_after;
}

static void test_records_are_shown_in_their_order(void)
{
    struct err e = { 0 };
    scoped(database) d;
    if (!chain_init(&d))
        return;
    struct seen some = { 0 }, stopped = { .stop_after = 2 };
    OK(audit_each(d.db, 1, 3, see, &some, &e));
    CHECK(some.first == 2 && some.last == 4 && some.n == 3);
    OK(audit_each(d.db, 0, 100, see, &stopped, &e));
    CHECK(stopped.first == 1 && stopped.last == 2);
}

/* A database of an earlier version, which removed old runs and did not record it. */
static void test_runs_that_an_earlier_version_removed_are_no_alarm(void)
{
    struct err e = { 0 };
    struct audit_record r = { .time_ms = 1, .kind = "run.finished", .actor = "a", .detail = "{}" };
    static const char with_digest[] =
        "{\"digest\":\"37996a927b46fc3a525a3bc865a973082bb1f205d5d2d356643df76f15ac9681\"}";
    scoped(database) d;
    if (!database_init(&d))
        return;
    r.subject = "run_of_an_earlier_version";
    OK(audit_append(d.db, &r, &e));
    CHECK_INT(verify(d.db).broken_seq, 0);
    r.subject = "run_of_this_version";
    r.detail = with_digest;
    OK(audit_append(d.db, &r, &e));
    struct audit_check c = verify(d.db);
    CHECK_INT(c.broken_seq, 2);
    CHECK(strstr(c.problem, "'run_of_this_version' is missing"));
}

static const struct check_test tests[] = {
    TEST(test_an_empty_chain_holds),
    TEST(test_an_untouched_chain_holds),
    TEST(test_the_hash_of_a_known_record_stays),
    TEST(test_every_change_is_found_where_it_was_made),
    TEST(test_a_tail_cut_off_shows_against_the_head),
    TEST(test_what_was_rolled_back_is_not_in_the_chain),
    TEST(test_two_processes_append_to_one_chain),
    TEST(test_records_are_shown_in_their_order),
    TEST(test_runs_that_an_earlier_version_removed_are_no_alarm),
};
CHECK_MAIN(tests)
