/* engine/programs.h — compiled programs, found by a key over everything that their compiler saw.
 * Runs in: keeper of the service, on its libuv loop. The worker threads of libuv read and write the
 * files.
 *
 * Invariants
 * PROGRAMS-1 A key is a hash over everything that a compiler can see (run/program_key.h). Two
 *            programs that differ have different keys. The program under a key comes from a jar
 *            that was given exactly the input of that key.
 * PROGRAMS-2 If several runs need the same program at the same time with the same compile limits,
 *            one compiles and the others wait. No run waits for a compiler with other limits than
 *            its own.
 * PROGRAMS-3 The loop never waits for the disk. The programs used last, up to PROGRAMS_MEMORY
 *            bytes, are in memory.
 * PROGRAMS-4 A file on disk has its key as its name and holds a hash over its content. A file that
 *            does not match its hash is removed.
 * PROGRAMS-5 Only a program whose compiler ended well is kept. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "base/buf.h"
#include "base/err.h"
#include "run/program_key.h"
#include "run/stages.h"

enum { PROGRAMS_MEMORY = 64 << 20 };

/* The outcome of a compilation. A function that returns a program, or passes it to on_answer(),
 * also passes a reference to it. */
struct program {
    char key[PROGRAM_KEY_SIZE]; /* "": not cached */
    struct stage_result result;
    int bundle_fd;  /* sealed: the files of the job and the products; -1: the compiler failed */
    uint64_t bytes; /* of memory */
    unsigned refs;
    uint64_t touched_ms;
};
void program_unref(struct program *p);

enum program_answer {
    PROGRAM_NOT_REQUESTED, /* the initial value; never an answer */
    PROGRAM_READY,
    PROGRAM_FAILED, /* the compiler failed with the same limits a moment ago */
    /* The requester compiles and then calls programs_put(), programs_fail() or
     * programs_cancel(). */
    PROGRAM_COMPILE_IT,
    PROGRAM_PENDING, /* on_answer() follows */
};

/* The request of one run. It must stay where it is until it is answered or cancelled. */
struct program_request {
    /* Never called from inside programs_request(). It must not make or cancel a request. */
    void (*on_answer)(struct program_request *q, enum program_answer answer, struct program *p);
    const struct buf *files;         /* of the job */
    struct limits limits;            /* of the compiler */
    struct compilation *compilation; /* private, as is next */
    struct program_request *next;
};

struct programs;
/* on_change() follows every on_answer() that is called from the loop, and the end of each job of
 * the disk. */
[[nodiscard]] int programs_new(struct programs **ret, uv_loop_t *loop,
                               void (*on_change)(void *context), void *context, struct err *e);
/* No request may be pending. Writes to the disk that have begun end while the loop turns. */
void programs_free(struct programs *ps);
/* Keeps programs in this directory, too, and takes over the descriptor. max_bytes 0: keeps none
 * there. */
void programs_set_dir(struct programs *ps, int dir_fd, uint64_t max_bytes);
void programs_set_max(struct programs *ps, uint64_t max_bytes);
/* Whether a job of the disk is running. */
bool programs_busy(const struct programs *ps);

enum program_answer programs_request(struct programs *ps, const char *key,
                                     struct program_request *q, struct program **ret);
/* The requester has compiled. Takes over *result. */
[[nodiscard]] int programs_put(struct programs *ps, struct program_request *q,
                               struct stage_result *result, const struct buf *products,
                               struct program **ret, struct err *e);
/* The compiler failed. Takes over *result. NULL if memory ran out; the waiting requests are
 * answered in any case. */
struct program *programs_fail(struct programs *ps, struct program_request *q,
                              struct stage_result *result);
/* The requester needs the program no longer, or could not compile it. The next request in line
 * compiles. Harmless if q is not pending. */
void programs_cancel(struct programs *ps, struct program_request *q);

struct programs_counts {
    uint64_t compiled, failed, from_memory, from_disk, shared;
};
struct programs_counts programs_counts(const struct programs *ps);
