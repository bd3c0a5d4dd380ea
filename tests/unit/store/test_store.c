#include "store/store.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "database.h"
#include "store/audit_log.h"
#include "store/db_query.h"
#include "store/run_rows.h"

/* A job that puts a run there, or looks for one. */
struct job {
    struct store_job base;
    char id[32];
    bool fail;   /* after it has written */
    unsigned at; /* which of the done()s this was, from 1 */
    unsigned *count;
    struct store *more; /* done() hands in another */
    struct job *another;
    pthread_t done_in;
};

static int put(struct db *db, struct store_job *base, struct err *e)
{
    struct job *j = (struct job *)base;
    if (runs_insert(db, &(struct run_record){ .id = j->id, .language = "c" }, e) ||
        audit_append(db,
                     &(struct audit_record){
                         .kind = "run.accepted", .subject = j->id, .actor = "x", .detail = "{}" },
                     e))
        return -1;
    return j->fail ? err_set(e, ERR_BAD_REQUEST, 0, "it was to fail") : 0;
}

static int look(struct db *db, struct store_job *base, struct err *e)
{
    scoped(run_record) row = { 0 };
    return runs_get(db, ((struct job *)base)->id, 0, &row, e);
}

static void note_done(struct store_job *base)
{
    struct job *j = (struct job *)base;
    j->at = ++*j->count;
    j->done_in = pthread_self();
    if (j->more)
        store_write(j->more, &j->another->base);
}

static struct job *job_init(struct job *j, unsigned *count, int id,
                            int (*work)(struct db *, struct store_job *, struct err *))
{
    *j = (struct job){ .base = { .work = work, .done = note_done }, .count = count };
    (void)snprintf(j->id, sizeof j->id, "run_%d", id);
    return j;
}

static void dispatch_until(struct store *s, const unsigned *count, unsigned n)
{
    while (*count < n) {
        struct pollfd p = { .fd = store_fd(s), .events = POLLIN };
        if (!CHECK(poll(&p, 1, 60000) == 1))
            return;
        store_dispatch(s);
    }
}

static bool open_store(struct place *p, struct store **ret)
{
    struct err e = { 0 };
    return place_init(p) && OK(store_open(ret, p->path, &e));
}

enum { MANY = 500, LARGE = 8 << 20 };

static void test_writes_happen_in_their_order_and_all_are_there(void)
{
    static struct job jobs[MANY];
    scoped(place) p;
    struct store *s = NULL;
    unsigned count = 0;
    if (!open_store(&p, &s))
        return;
    for (int i = 0; i < MANY; i++)
        store_write(s, &job_init(&jobs[i], &count, i, put)->base);
    dispatch_until(s, &count, MANY);
    CHECK_INT(store_pending(s), 0);
    for (int i = 0; i < MANY; i++) {
        CHECK_INT(jobs[i].base.err.code, ERR_NONE);
        CHECK_INT(jobs[i].at, i + 1);
        CHECK(pthread_equal(jobs[i].done_in, pthread_self()));
    }
    store_close(s);
    struct err e = { 0 };
    struct db *db = NULL;
    scoped(run_records) rows = { 0 };
    if (!OK(db_open(&db, p.path, DB_READ, &e)))
        return;
    OK(runs_list(db, &(struct run_query){ .limit = 1000 }, &rows, &e));
    CHECK_INT(rows.n, MANY);
    for (size_t i = 0; i < rows.n; i++)
        CHECK_STR(rows.rows[i].id, jobs[MANY - 1 - i].id);
    db_close(db);
}

static void test_a_failing_job_is_undone_alone(void)
{
    static struct job jobs[30], looks[30];
    scoped(place) p;
    struct store *s = NULL;
    unsigned count = 0;
    if (!open_store(&p, &s))
        return;
    for (int i = 0; i < 30; i++) {
        job_init(&jobs[i], &count, i, put)->fail = i % 3 == 1;
        store_write(s, &jobs[i].base);
    }
    dispatch_until(s, &count, 30);
    for (int i = 0; i < 30; i++)
        store_read(s, &job_init(&looks[i], &count, i, look)->base);
    dispatch_until(s, &count, 60);
    for (int i = 0; i < 30; i++) {
        CHECK_INT(jobs[i].base.err.code, i % 3 == 1 ? ERR_BAD_REQUEST : ERR_NONE);
        CHECK_INT(looks[i].base.err.code, i % 3 == 1 ? ERR_NOT_FOUND : ERR_NONE);
    }
    store_close(s);
    /* The entries of the failing writes are gone from the chain, and the chain is whole. */
    struct err e = { 0 };
    struct db *db = NULL;
    struct audit_check check = { 0 };
    if (OK(db_open(&db, p.path, DB_READ, &e))) {
        OK(audit_verify(db, NULL, &check, &e));
        CHECK_INT(check.broken_seq, 0);
        CHECK_INT(check.records, 20);
        db_close(db);
    }
}

static void test_a_reader_sees_what_was_done_before(void)
{
    scoped(place) p;
    struct store *s = NULL;
    unsigned count = 0;
    if (!open_store(&p, &s))
        return;
    for (int i = 0; i < 200; i++) {
        struct job write, reads[3];
        store_write(s, &job_init(&write, &count, i, put)->base);
        dispatch_until(s, &count, (unsigned)i * 4 + 1);
        for (int k = 0; k < 3; k++)
            store_read(s, &job_init(&reads[k], &count, i, look)->base);
        dispatch_until(s, &count, (unsigned)i * 4 + 4);
        for (int k = 0; k < 3; k++)
            CHECK_INT(reads[k].base.err.code, ERR_NONE);
    }
    store_close(s);
}

static int search_for_ever(struct db *db, struct store_job *base, struct err *e)
{
    int64_t n;
    (void)base;
    return sql_number(db,
                      "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) "
                      "SELECT max(x) FROM c",
                      &n, e);
}

static void test_a_search_does_not_keep_a_reader_for_ever(void)
{
    scoped(place) p;
    struct store *s = NULL;
    struct job long_one, next;
    unsigned done = 0;
    if (!open_store(&p, &s))
        return;
    store_read(s, &job_init(&long_one, &done, 1, search_for_ever)->base);
    store_read(s, &job_init(&next, &done, 2, look)->base);
    store_close(s);
    CHECK_INT(done, 2);
    CHECK_INT(next.at, 1); /* there is another reader */
    CHECK_INT(long_one.base.err.code, ERR_UNAVAILABLE);
    CHECK(strstr(long_one.base.err.text, "narrow it down"));
}

static void test_close_does_what_was_handed_in_and_what_that_handed_in(void)
{
    static struct job jobs[100], read, last;
    scoped(place) p;
    struct store *s = NULL;
    unsigned count = 0;
    if (!open_store(&p, &s))
        return;
    for (int i = 0; i < 100; i++)
        job_init(&jobs[i], &count, i, put);
    job_init(&last, &count, 1000, put);
    jobs[99].more = s;
    jobs[99].another = &last;
    for (int i = 0; i < 100; i++)
        store_write(s, &jobs[i].base);
    store_read(s, &job_init(&read, &count, 5000, look)->base);
    CHECK(store_pending(s) > 0);
    store_close(s);
    CHECK_INT(count, 102);
    CHECK(last.at > 100); /* after all writes; the reader's thread may be later than all */
    CHECK_INT(last.base.err.code, ERR_NONE);
    CHECK_INT(read.base.err.code, ERR_NOT_FOUND);
    store_close(NULL);
}

/* Keeps the writer busy until the rest is handed in, so that it gathers. */
struct gate {
    struct job job;
    sem_t open;
};

static int wait_at_gate(struct db *db, struct store_job *base, struct err *e)
{
    (void)db, (void)e;
    (void)sem_wait(&((struct gate *)base)->open);
    return 0;
}

static void gate_init(struct gate *g, struct store *s, unsigned *count)
{
    job_init(&g->job, count, 0, wait_at_gate);
    CHECK_INT(sem_init(&g->open, 0, 0), 0);
    store_write(s, &g->job.base);
}

/* As when the disk is full: the transaction is gone under the jobs. */
static int lose(struct db *db, struct store_job *base, struct err *e)
{
    (void)base;
    db_rollback(db);
    return err_set(e, ERR_KERNEL, 0, "the disk is full");
}

static void test_a_lost_transaction_fails_every_job_in_it(void)
{
    struct gate gate;
    struct job first, jobs[3], after, looks[4];
    scoped(place) p;
    struct store *s = NULL;
    unsigned count = 0;
    if (!open_store(&p, &s))
        return;
    store_write(s, &job_init(&first, &count, 3, put)->base);
    dispatch_until(s, &count, 1);
    gate_init(&gate, s, &count);
    /* The writer may not have taken the gate's job yet: then they share its transaction, which
     * changes nothing. */
    for (int i = 0; i < 3; i++)
        store_write(s, &job_init(&jobs[i], &count, i, i == 1 ? lose : put)->base);
    CHECK_INT(sem_post(&gate.open), 0);
    dispatch_until(s, &count, 5);
    store_write(s, &job_init(&after, &count, 7, put)->base);
    dispatch_until(s, &count, 6);
    CHECK_INT(after.base.err.code, ERR_NONE);
    for (int i = 0; i < 4; i++)
        store_read(s, &job_init(&looks[i], &count, i, look)->base);
    dispatch_until(s, &count, 10);
    for (int i = 0; i < 3; i++) {
        CHECK_STR(jobs[i].base.err.text, "the disk is full");
        CHECK_INT(looks[i].base.err.code, ERR_NOT_FOUND);
    }
    CHECK_INT(looks[3].base.err.code, ERR_NONE);
    store_close(s);
    (void)sem_destroy(&gate.open);
}

static int64_t log_size(const struct place *p)
{
    struct stat st = { 0 };
    CHECK_INT(fstatat(p->fd, "belljar.db-wal", &st, 0), 0);
    return st.st_size;
}

static void test_what_gathers_is_committed_together(void)
{
    static struct job jobs[100];
    struct gate gate;
    scoped(place) p;
    struct store *s = NULL;
    unsigned count = 0;
    if (!open_store(&p, &s))
        return;
    int64_t before = log_size(&p);
    gate_init(&gate, s, &count);
    for (int i = 0; i < 100; i++)
        store_write(s, &job_init(&jobs[i], &count, i, put)->base);
    CHECK_INT(sem_post(&gate.open), 0);
    dispatch_until(s, &count, 101);
    int64_t after = log_size(&p);
    /* A run alone writes more than five pages of 4 KiB; together they share them. */
    CHECK(after > before);
    CHECK(after - before < INT64_C(100) * 5 * 4096);
    store_close(s);
    (void)sem_destroy(&gate.open);
}

static int put_large(struct db *db, struct store_job *base, struct err *e)
{
    struct job *j = (struct job *)base;
    autofree char *code = malloc(LARGE + 1);
    if (!code)
        return err_set(e, ERR_NO_MEMORY, 0, "no memory");
    memset(code, 'x', LARGE);
    code[LARGE] = '\0';
    return runs_insert(db, &(struct run_record){ .id = j->id, .code = code }, e);
}

static void test_a_disk_that_takes_no_more_fails_jobs_and_not_the_store(void)
{
    struct job large, small, looks[2];
    struct rlimit whole, little;
    scoped(place) p;
    struct store *s = NULL;
    unsigned count = 0;
    if (!open_store(&p, &s) || !CHECK_INT(getrlimit(RLIMIT_FSIZE, &whole), 0))
        return;
    little = (struct rlimit){ .rlim_cur = LARGE / 2, .rlim_max = whole.rlim_max };
    CHECK_INT(setrlimit(RLIMIT_FSIZE, &little), 0);
    store_write(s, &job_init(&large, &count, 1, put_large)->base);
    dispatch_until(s, &count, 1);
    CHECK_INT(setrlimit(RLIMIT_FSIZE, &whole), 0);
    CHECK_INT(large.base.err.code, ERR_KERNEL);
    CHECK(strstr(large.base.err.text, "belljar.db") != NULL);
    CHECK_STR(store_trouble(s).text, large.base.err.text);
    store_write(s, &job_init(&small, &count, 2, put)->base);
    dispatch_until(s, &count, 2);
    CHECK_INT(small.base.err.code, ERR_NONE);
    CHECK_INT(store_trouble(s).code, ERR_NONE);
    for (int i = 0; i < 2; i++)
        store_read(s, &job_init(&looks[i], &count, i + 1, look)->base);
    dispatch_until(s, &count, 4);
    CHECK_INT(looks[0].base.err.code, ERR_NOT_FOUND);
    CHECK_INT(looks[1].base.err.code, ERR_NONE);
    store_close(s);
}

static int probe(struct db *db, struct store_job *base, struct err *e)
{
    (void)base;
    return db_probe(db, 1, e);
}

/* Nothing is cached in a new store, so its first read meets the damage. */
static void test_a_damaged_database_is_told(void)
{
    struct job write, read, again;
    scoped(place) p;
    struct store *s = NULL;
    struct err e = { 0 };
    unsigned count = 0;
    if (!open_store(&p, &s))
        return;
    store_write(s, &job_init(&write, &count, 1, put)->base);
    dispatch_until(s, &count, 1);
    store_close(s);
    count = 0;
    if (!OK(store_open(&s, p.path, &e)))
        return;
    CHECK_INT(store_trouble(s).code, ERR_NONE);
    static const char junk[4096] = { [0 ... 4095] = '\xff' };
    autoclose int fd = openat(p.fd, "belljar.db", O_WRONLY | O_CLOEXEC);
    struct stat st = { 0 };
    CHECK(fd >= 0 && fstat(fd, &st) == 0 && st.st_size > 4096);
    for (off_t at = 4096; at < st.st_size; at += 4096)
        CHECK_INT(pwrite(fd, junk, sizeof junk, at), 4096);
    store_read(s, &job_init(&read, &count, 1, look)->base);
    dispatch_until(s, &count, 1);
    CHECK_INT(read.base.err.code, ERR_KERNEL);
    CHECK(strstr(store_trouble(s).text, "damaged") != NULL);
    store_write(s, &job_init(&again, &count, 1, probe)->base);
    dispatch_until(s, &count, 2);
    CHECK_INT(again.base.err.code, ERR_KERNEL);
    CHECK(strstr(store_trouble(s).text, "damaged") != NULL);
    store_close(s);
}

static int fail_silently(struct db *db, struct store_job *base, struct err *e)
{
    (void)db, (void)base, (void)e;
    return -1;
}

static void test_a_failure_has_a_reason(void)
{
    struct job write, read;
    scoped(place) p;
    struct store *s = NULL;
    unsigned count = 0;
    if (!open_store(&p, &s))
        return;
    store_write(s, &job_init(&write, &count, 1, fail_silently)->base);
    store_read(s, &job_init(&read, &count, 1, fail_silently)->base);
    dispatch_until(s, &count, 2);
    CHECK_INT(write.base.err.code, ERR_KERNEL);
    CHECK_INT(read.base.err.code, ERR_KERNEL);
    CHECK_INT(store_trouble(s).code, ERR_NONE); /* a failure of a job is none of the disk */
    store_close(s);
}

/* One thread writes and dispatches, another reads as fast as it may hand in. */
struct hammer {
    struct store *store;
    struct job jobs[MANY];
};

static void *hammer_reads(void *arg)
{
    struct hammer *h = arg;
    for (int i = 0; i < MANY; i++)
        store_read(h->store, &h->jobs[i].base);
    return NULL;
}

static void test_two_threads_may_hand_in_at_once(void)
{
    static struct job writes[MANY];
    static struct hammer h;
    scoped(place) p;
    pthread_t thread;
    unsigned count = 0;
    if (!open_store(&p, &h.store))
        return;
    for (int i = 0; i < MANY; i++)
        job_init(&h.jobs[i], &count, i, look);
    CHECK_INT(pthread_create(&thread, NULL, hammer_reads, &h), 0);
    for (int i = 0; i < MANY; i++)
        store_write(h.store, &job_init(&writes[i], &count, i, put)->base);
    dispatch_until(h.store, &count, 2 * MANY);
    CHECK_INT(pthread_join(thread, NULL), 0);
    for (int i = 0; i < MANY; i++) {
        CHECK_INT(writes[i].base.err.code, ERR_NONE);
        CHECK(h.jobs[i].base.err.code == ERR_NONE || h.jobs[i].base.err.code == ERR_NOT_FOUND);
    }
    store_close(h.store);
}

static int signals_are_blocked(struct db *db, struct store_job *base, struct err *e)
{
    sigset_t set;
    (void)db, (void)base;
    if (pthread_sigmask(SIG_BLOCK, NULL, &set) || !sigismember(&set, SIGTERM) ||
        !sigismember(&set, SIGCHLD))
        return err_set(e, ERR_KERNEL, 0, "a signal may come here");
    return 0;
}

static void test_signals_stay_with_the_loop(void)
{
    struct job jobs[3];
    scoped(place) p;
    struct store *s = NULL;
    unsigned count = 0;
    sigset_t set;
    if (!open_store(&p, &s))
        return;
    for (int i = 0; i < 3; i++)
        (i ? store_read : store_write)(s,
                                       &job_init(&jobs[i], &count, i, signals_are_blocked)->base);
    dispatch_until(s, &count, 3);
    for (int i = 0; i < 3; i++)
        CHECK_INT(jobs[i].base.err.code, ERR_NONE);
    CHECK(pthread_sigmask(SIG_BLOCK, NULL, &set) == 0 && !sigismember(&set, SIGTERM));
    store_close(s);
}

static void test_a_store_that_cannot_open_says_why_and_leaves_nothing(void)
{
    scoped(place) p;
    struct err e = { 0 };
    struct store *s = NULL;
    if (!place_init(&p) || !meddle(&p, "CREATE TABLE theirs (x)"))
        return;
    int before = open_fds();
    CHECK_INT(store_open(&s, p.path, &e), -1);
    CHECK(s == NULL && strstr(e.text, "belljar.db") != NULL);
    CHECK_INT(open_fds(), before);
}

static const struct check_test tests[] = {
    TEST(test_writes_happen_in_their_order_and_all_are_there),
    TEST(test_a_failing_job_is_undone_alone),
    TEST(test_a_reader_sees_what_was_done_before),
    TEST(test_a_search_does_not_keep_a_reader_for_ever),
    TEST(test_close_does_what_was_handed_in_and_what_that_handed_in),
    TEST(test_a_lost_transaction_fails_every_job_in_it),
    TEST(test_what_gathers_is_committed_together),
    TEST(test_a_disk_that_takes_no_more_fails_jobs_and_not_the_store),
    TEST(test_a_damaged_database_is_told),
    TEST(test_a_failure_has_a_reason),
    TEST(test_two_threads_may_hand_in_at_once),
    TEST(test_signals_stay_with_the_loop),
    TEST(test_a_store_that_cannot_open_says_why_and_leaves_nothing),
};
CHECK_MAIN(tests)
