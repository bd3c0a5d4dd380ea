/* cli/run/program_cache.h — compiled programs of `belljar run` without a service, in the cache
 * directory of the caller ($XDG_CACHE_HOME/belljar/programs). Keys, files and rules are those of
 * the service (run/program_disk.h).
 *
 * Invariants
 * PROGRAM_CACHE-1 Only main has the directory and makes keys, from the files of the caller. For
 *                 each stage of this run, the keeper gets a file to read, if there is one, and a
 *                 pipe for the product. It reaches no other program.
 * PROGRAM_CACHE-2 The keeper checks a file before it uses it, and main checks a product before it
 *                 stores it. A process that dies leaves no partial file.
 * PROGRAM_CACHE-3 The directory belongs to the caller and no other user can read it. Any other
 *                 directory is not used.
 * PROGRAM_CACHE-4 If the cache cannot be used, the run goes on without it. */
#pragma once

#include <poll.h>
#include <stdbool.h>

#include "cli/run/inputs.h"
#include "cli/run/run_arguments.h"
#include "run/program_disk.h"

enum { CACHE_STAGES = STAGE_RUN /* those before it */, CACHE_POLLS = CACHE_STAGES };

struct cached_stage {
    char key[PROGRAM_KEY_SIZE]; /* "": this stage is not cached */
    int kept_fd;                /* the keeper reads the stored product; -1: none */
    int keep_fd;                /* the keeper writes the product to store */
    int made_fd;                /* main reads it: the other end of keep_fd */
    struct buf made;            /* main: bytes that came so far */
};

struct program_cache {
    struct program_disk disk; /* of main */
    struct cached_stage at[CACHE_STAGES];
};

/* ---- main ---- */

/* Opens the cached stages of this run; all are empty if there is no cache. */
void program_cache_open(struct program_cache *ret, const struct run_arguments *o,
                        const struct inputs *in, enum level level);
void program_cache_done(struct program_cache *c);
/* After the fork: closes the ends of the keeper. */
void program_cache_forked(struct program_cache *c);
/* While the keeper lives; c may be NULL. */
void program_cache_polls(const struct program_cache *c, struct pollfd p[CACHE_POLLS]);
void program_cache_ready(struct program_cache *c, const struct pollfd p[CACHE_POLLS]);
/* After the end of the keeper: reads the rest from it. c may be NULL. */
void program_cache_finish(struct program_cache *c);

/* Opens the directory of the caller for programs, or makes it. */
[[nodiscard]] int program_cache_directory(int *ret_fd, struct err *e);

/* ---- keeper ---- */

/* The descriptors that the keeper needs. */
enum { CACHE_FDS = 2 * CACHE_STAGES };
void program_cache_fds(const struct program_cache *c, int fds[CACHE_FDS]);
/* False if there is no whole product of this stage. */
bool program_cache_take(struct program_cache *c, enum stage kind, struct program_file *ret);
/* Sends the product of a stage that succeeded to main. */
void program_cache_keep(struct program_cache *c, enum stage kind, const struct stage_result *how,
                        const struct buf *made);
