/* engine/programs.h — what compilers made, kept by what they made it of. Runs in: keeper of the service, on its libuv loop;
 * files are read and written by libuv's worker threads.
 *
 * Invariants
 * P1 A key is a hash over everything a compiler could see and everything it was told: two programs that differ have different
 *    keys, and what is kept under a key came out of the one jar that was given just that.
 * P2 Of those who ask for the same at the same time, with the same limits, one makes it and the others wait; nobody waits for
 *    a compiler that has less, or longer, than their own would.
 * P3 The loop never waits for the disk. What was used of late is in memory, PROGRAMS_MEMORY bytes of it.
 * P4 On disk a program is under its key, with a hash over all of it: what does not fit its hash is none, and is removed.
 * P5 Only what a compiler ended well with is kept. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "base/buf.h"
#include "base/err.h"
#include "run/program_key.h"
#include "run/stages.h"

enum { PROGRAMS_MEMORY = 64 << 20 };

/* What came of a preparation. Whoever is handed one has a reference to it. */
struct program {
    char key[PROGRAM_KEY_SIZE];
    struct preparation how;
    int bundle_fd;  /* sealed: the job's files and what was made of them; -1: it failed */
    uint64_t bytes; /* of memory */
    unsigned refs;
    uint64_t touched_ms;
};
void program_release(struct program *p);

enum program_answer {
    PROGRAM_UNASKED, /* never an answer: what is there before the question */
    PROGRAM_HERE,    /* somebody made it */
    PROGRAM_FAILED,  /* somebody with the same limits tried just now */
    PROGRAM_YOURS, /* make it, and tell by programs_made(), programs_failed() or programs_leave() */
    PROGRAM_LATER, /* by answer() */
};

/* Somebody who needs a program. It stays where it is until it is answered or leaves. */
struct program_wait {
    /* Never from inside programs_ask(); nothing that changes who waits is to be done in it. */
    void (*answer)(struct program_wait *w, enum program_answer what, struct program *p);
    const struct buf *files; /* of the job */
    struct limits limits;    /* of the compiler */
    struct flight *flight;   /* ours */
    struct program_wait *next;
};

struct programs;
/* answered() comes after answers that nobody here asked for, and when nothing is on its way to the disk any more. */
[[nodiscard]] int programs_new(struct programs **ret, uv_loop_t *loop,
                               void (*answered)(void *context), void *context, struct err *e);
/* Nobody waits any more. What is on its way to the disk gets there while the loop turns. */
void programs_free(struct programs *ps);
/* A directory for them, taken over, and how much they may take there: 0 is nothing. */
void programs_set_dir(struct programs *ps, int dir_fd, uint64_t max_bytes);
void programs_set_max(struct programs *ps, uint64_t max_bytes);
bool programs_busy(const struct programs *ps);

enum program_answer programs_ask(struct programs *ps, const char *key, struct program_wait *w,
                                 struct program **ret);
/* What it was to make is in `made`, a bundle of outputs. Takes *how over. */
[[nodiscard]] int programs_made(struct programs *ps, struct program_wait *w,
                                struct preparation *how, const struct buf *made,
                                struct program **ret, struct err *e);
/* Takes *how over. NULL when memory ran out; those who waited are answered in any case. */
struct program *programs_failed(struct programs *ps, struct program_wait *w,
                                struct preparation *how);
/* Does not want it any more, or could not find out: another one's turn. Allowed also for who does not wait. */
void programs_leave(struct programs *ps, struct program_wait *w);

struct programs_counts {
    uint64_t made, failed, from_memory, from_disk, shared;
};
struct programs_counts programs_counts(const struct programs *ps);
