/* store/store.h — the threads of the database: one writes, with group commit, and two read. Runs
 * in: keeper. The event loop never waits for the disk. It submits jobs, and done() reports their
 * end.
 *
 * Invariants
 * STORE-1 Writes happen in the order of submission, and done() is called after their commit. A
 *         failed job is undone alone. If a commit fails (the disk is full), every job in it gets
 *         that error and none of them has an effect.
 * STORE-2 A read sees every write whose done() was called before the read was submitted.
 * STORE-3 done() runs only in the thread that calls store_dispatch(). */
#pragma once

#include "base/err.h"
#include "store/db.h"

struct store;

struct store_job {
    /* Runs in a store thread, inside a transaction: no db_begin() here. If it returns -1, done()
     * finds *e in `err`. */
    int (*work)(struct db *db, struct store_job *job, struct err *e);
    void (*done)(struct store_job *job);
    struct err err;         /* code ERR_NONE on success */
    struct store_job *next; /* used by the store */
};

/* Opens or creates the database below dir (see db_open), updates its schema and starts the threads,
 * which block all signals. */
[[nodiscard]] int store_open(struct store **ret, const char *dir, struct err *e);
/* Finishes every submitted job, calls every done(), then closes. */
void store_close(struct store *s);

void store_write(struct store *s, struct store_job *job);
void store_read(struct store *s, struct store_job *job);

/* Readable when there is something to dispatch. */
int store_fd(const struct store *s);
void store_dispatch(struct store *s);
/* Dispatches until no job is pending, including jobs that done() submits. For use before and after
 * the event loop runs. */
void store_wait(struct store *s);
/* The trouble of the disk or the file (STORE-12); its code is ERR_NONE if there is none. */
struct err store_trouble(const struct store *s);
/* Number of unfinished jobs, for metrics. */
unsigned store_pending(const struct store *s);
