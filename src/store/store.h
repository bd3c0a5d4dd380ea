/* store/store.h — the database's threads: one that writes, with group commit, and some that read.
 * Runs in: keeper. The loop never waits for the disk: it hands in jobs and is told when they are done.
 *
 * Invariants
 * S1 Writes happen in the order they were handed in; done() is called after their commit. A job that fails is undone alone.
 *    When a commit fails (the disk is full), every job in it has that error and none of them happened.
 * S2 A reader sees every write whose done() was called before the read was handed in.
 * S3 done() runs in the thread that calls store_dispatch(), never in another. */
#pragma once

#include "base/err.h"
#include "store/db.h"

struct store;

struct store_job {
    /* In a thread of the store's, inside a transaction: no db_begin() here. What it leaves in *e with -1 is what done() finds
     * in `err`. */
    int (*work)(struct db *db, struct store_job *job, struct err *e);
    void (*done)(struct store_job *job);
    struct err err;         /* code ERR_NONE when it went well */
    struct store_job *next; /* the store's */
};

/* Opens or makes the database below dir (see db_open), brings its schema up to date, starts the threads (signals
 * blocked in them). */
[[nodiscard]] int store_open(struct store **ret, const char *dir, struct err *e);
/* Does everything handed in, calls every done(), then closes. */
void store_close(struct store *s);

void store_write(struct store *s, struct store_job *job);
void store_read(struct store *s, struct store_job *job);

/* Readable when there is something to dispatch. */
int store_fd(const struct store *s);
void store_dispatch(struct store *s);
/* Dispatches until nothing is pending, what done() hands in included: for before a loop runs, and after. */
void store_wait(struct store *s);
/* Jobs handed in and not yet done, for metrics. */
unsigned store_pending(const struct store *s);
