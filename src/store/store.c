#include "store/store.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/clock.h"
#include "store/db_query.h"

enum { READERS = 2, THREADS = READERS + 1 };

struct job_queue {
    struct store_job *first, **last;
};

/* One connection and its thread. The first one writes. */
struct worker {
    struct store *store;
    struct db *db;
    pthread_t thread;
    bool started;
};

struct store {
    struct worker workers[THREADS];
    int fd;
    pthread_mutex_t lock;
    pthread_cond_t for_writer, for_readers;
    /* protected by the lock: */
    struct job_queue writes, reads, done;
    unsigned pending;
    bool closing;
    struct err trouble;
};

static void queue_init(struct job_queue *q)
{
    *q = (struct job_queue){ .last = &q->first };
}

static void queue_add(struct job_queue *q, struct store_job *first, struct store_job **last)
{
    *q->last = first;
    q->last = last;
}

static struct store_job *queue_take_all(struct job_queue *q)
{
    struct store_job *first = q->first;
    queue_init(q);
    return first;
}

static struct store_job *queue_take_one(struct job_queue *q)
{
    struct store_job *job = q->first;
    if (job && !(q->first = job->next))
        q->last = &q->first;
    if (job)
        job->next = NULL;
    return job;
}

static void fail_job(struct store_job *job, const struct err *e)
{
    if (job->err.code == ERR_NONE)
        job->err = *e;
}

/* A job that fails without a reason gets one. */
static void work(struct db *db, struct store_job *job)
{
    struct err e = { 0 };
    if (job->work(db, job, &e) == 0)
        return;
    if (e.code == ERR_NONE)
        (void)err_set(&e, ERR_KERNEL, 0, "a database job failed without a reason");
    job->err = e;
}

/* Runs a job in its savepoint. -1 if the whole transaction is lost. */
static int write_one(struct db *db, struct store_job *job, struct err *e)
{
    if (sql_savepoint(db, e))
        return -1;
    work(db, job);
    if (job->err.code == ERR_NONE) {
        if (sql_release(db, &job->err) == 0)
            return 0;
    }
    sql_undo(db);
    if (sql_in_transaction(db))
        return 0;
    *e = job->err;
    return -1;
}

/* One transaction for all jobs. If it is lost, at the commit or before, every job in it fails. */
static void write_batch(struct db *db, struct store_job *jobs)
{
    struct err e = { 0 };
    int rc = db_begin(db, &e);
    for (struct store_job *job = jobs; job && rc == 0; job = job->next)
        rc = write_one(db, job, &e);
    if (rc == 0)
        rc = db_commit(db, &e);
    if (rc == 0)
        return;
    db_rollback(db);
    for (struct store_job *job = jobs; job; job = job->next)
        fail_job(job, &e);
}

/* All reads share two readers, so a deadline bounds each read. */
static void read_one(struct db *db, struct store_job *job)
{
    enum { READ_MS = 5000 };
    if (db_begin(db, &job->err))
        return;
    sql_deadline(db, clock_ms() + READ_MS);
    work(db, job);
    sql_deadline(db, 0);
    db_rollback(db); /* a read has nothing to commit */
}

static void hand_over(struct store *s, struct store_job *jobs)
{
    struct store_job **last = &jobs->next;
    while (*last)
        last = &(*last)->next;
    (void)pthread_mutex_lock(&s->lock);
    bool first = !s->done.first;
    queue_add(&s->done, jobs, last);
    (void)pthread_mutex_unlock(&s->lock);
    /* Cannot fail: the counter is reset to 0 long before it overflows. */
    if (first)
        (void)!write(s->fd, &(uint64_t){ 1 }, sizeof(uint64_t));
}

/* A commit without changes touches no disk, so it proves nothing. */
static void note_trouble(struct store *s, struct db *db, bool changed)
{
    if (db->fault.code == ERR_NONE && !changed)
        return;
    (void)pthread_mutex_lock(&s->lock);
    s->trouble = db->fault;
    (void)pthread_mutex_unlock(&s->lock);
    db->fault = (struct err){ 0 };
}

struct err store_trouble(const struct store *s)
{
    struct store *self = (struct store *)s;
    (void)pthread_mutex_lock(&self->lock);
    struct err e = s->trouble;
    (void)pthread_mutex_unlock(&self->lock);
    return e;
}

/* The jobs that arrived during the last commit form one transaction; a read is done alone. */
static void *worker_thread(void *arg)
{
    struct worker *w = arg;
    struct store *s = w->store;
    bool writes = w == &s->workers[0];
    struct job_queue *queue = writes ? &s->writes : &s->reads;
    for (;;) {
        (void)pthread_mutex_lock(&s->lock);
        while (!queue->first && !s->closing)
            (void)pthread_cond_wait(writes ? &s->for_writer : &s->for_readers, &s->lock);
        struct store_job *jobs = writes ? queue_take_all(queue) : queue_take_one(queue);
        (void)pthread_mutex_unlock(&s->lock);
        if (!jobs)
            return NULL;
        int64_t before = sql_total_changes(w->db);
        if (writes)
            write_batch(w->db, jobs);
        else
            read_one(w->db, jobs);
        note_trouble(s, w->db, writes && sql_total_changes(w->db) > before);
        hand_over(s, jobs);
    }
}

static int start_threads(struct store *s, struct err *e)
{
    sigset_t all, before;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    int rc = 0;
    for (int i = 0; i < THREADS && rc == 0; i++) {
        struct worker *w = &s->workers[i];
        rc = pthread_create(&w->thread, NULL, worker_thread, w);
        w->started = rc == 0;
    }
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return rc == 0 ? 0 : err_set(e, ERR_KERNEL, rc, "start a thread of the database");
}

static void stop(struct store *s)
{
    (void)pthread_mutex_lock(&s->lock);
    s->closing = true;
    (void)pthread_cond_broadcast(&s->for_writer);
    (void)pthread_cond_broadcast(&s->for_readers);
    (void)pthread_mutex_unlock(&s->lock);
    for (int i = 0; i < THREADS; i++)
        if (s->workers[i].started)
            (void)pthread_join(s->workers[i].thread, NULL);
    /* Readers first, so that the writer's connection is the last one. Closing the last one empties
     * the log into the database. */
    for (int i = THREADS - 1; i >= 0; i--)
        db_close(s->workers[i].db);
    fd_close(&s->fd);
    (void)pthread_cond_destroy(&s->for_writer);
    (void)pthread_cond_destroy(&s->for_readers);
    (void)pthread_mutex_destroy(&s->lock);
    free(s);
}

int store_open(struct store **ret, const char *dir, struct err *e)
{
    struct store *s = calloc(1, sizeof *s);
    if (!s)
        return err_set(e, ERR_NO_MEMORY, 0, "open the database: out of memory");
    (void)pthread_mutex_init(&s->lock, NULL);
    (void)pthread_cond_init(&s->for_writer, NULL);
    (void)pthread_cond_init(&s->for_readers, NULL);
    queue_init(&s->writes);
    queue_init(&s->reads);
    queue_init(&s->done);
    s->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (s->fd < 0) {
        (void)err_set(e, ERR_KERNEL, errno, "make an eventfd for the database");
        goto fail;
    }
    for (int i = 0; i < THREADS; i++) {
        s->workers[i].store = s;
        if (db_open(&s->workers[i].db, dir, i == 0 ? DB_WRITE : DB_READ, e))
            goto fail;
    }
    if (start_threads(s, e))
        goto fail;
    *ret = s;
    return 0;
fail:
    stop(s);
    return -1;
}

void store_close(struct store *s)
{
    if (!s)
        return;
    store_wait(s);
    stop(s);
}

static void submit(struct store *s, struct job_queue *q, pthread_cond_t *whom,
                   struct store_job *job)
{
    job->err = (struct err){ 0 };
    job->next = NULL;
    (void)pthread_mutex_lock(&s->lock);
    queue_add(q, job, &job->next);
    s->pending++;
    (void)pthread_cond_signal(whom);
    (void)pthread_mutex_unlock(&s->lock);
}

void store_write(struct store *s, struct store_job *job)
{
    submit(s, &s->writes, &s->for_writer, job);
}

void store_read(struct store *s, struct store_job *job)
{
    submit(s, &s->reads, &s->for_readers, job);
}

int store_fd(const struct store *s)
{
    return s->fd;
}

void store_dispatch(struct store *s)
{
    uint64_t count;
    /* before the list is taken: a later job rings again */
    (void)!read(s->fd, &count, sizeof count);
    (void)pthread_mutex_lock(&s->lock);
    struct store_job *job = queue_take_all(&s->done);
    (void)pthread_mutex_unlock(&s->lock);
    while (job) {
        struct store_job *next = job->next; /* done() may free the job or submit it again */
        (void)pthread_mutex_lock(&s->lock);
        s->pending--;
        (void)pthread_mutex_unlock(&s->lock);
        job->done(job);
        job = next;
    }
}

void store_wait(struct store *s)
{
    while (store_pending(s) > 0) {
        struct pollfd p = { .fd = s->fd, .events = POLLIN };
        (void)poll(&p, 1, -1); /* interrupted: nothing to dispatch, so wait again */
        store_dispatch(s);
    }
}

unsigned store_pending(const struct store *s)
{
    struct store *self = (struct store *)s;
    (void)pthread_mutex_lock(&self->lock);
    unsigned n = s->pending;
    (void)pthread_mutex_unlock(&self->lock);
    return n;
}
