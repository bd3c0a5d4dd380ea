/* cli/run/program_cache.h — what compilers made for `belljar run` without a service, kept in the caller's own cache directory
 * ($XDG_CACHE_HOME/belljar/programs). The service's keys, files and rules; see run/program_disk.h.
 *
 * Invariants
 * C1 Only main has the directory, and only main makes keys, of the caller's own files. The keeper gets, for each stage of this one
 *    run, what was kept as a file to read, and a pipe for what is to be kept: no other program is within its reach.
 * C2 The keeper checks what it uses, main what it keeps: whoever dies in between, nothing of it is half there.
 * C3 The directory is the caller's and nobody else may even look into it; one that is anything else is not used.
 * C4 A cache that cannot be used is none: a run never fails for it. */
#pragma once

#include <poll.h>
#include <stdbool.h>

#include "cli/run/inputs.h"
#include "cli/run/run_arguments.h"
#include "run/program_disk.h"

enum { CACHE_STAGES = STAGE_RUN /* those before it */, CACHE_POLLS = CACHE_STAGES };

struct cached_stage {
    char key[PROGRAM_KEY_SIZE]; /* "": nothing is asked for, and nothing kept */
    int kept_fd;                /* the keeper's: what was kept; -1: nothing */
    int keep_fd;                /* the keeper's: takes what is to be kept */
    int made_fd;                /* main's: its other end */
    struct buf made;            /* main's: what came of it */
};

struct program_cache {
    struct program_disk disk; /* main's */
    struct cached_stage at[CACHE_STAGES];
};

/* ---- main ---- */

/* Whatever there is for this run. */
void program_cache_open(struct program_cache *ret, const struct run_arguments *o,
                        const struct inputs *in, enum level level);
void program_cache_done(struct program_cache *c);
/* The keeper has its ends. */
void program_cache_forked(struct program_cache *c);
/* While the keeper lives; c may be NULL. */
void program_cache_polls(const struct program_cache *c, struct pollfd p[CACHE_POLLS]);
void program_cache_ready(struct program_cache *c, const struct pollfd p[CACHE_POLLS]);
/* The keeper is gone: takes what it sent before. c may be NULL. */
void program_cache_finish(struct program_cache *c);

/* The caller's directory for programs, made if it is not there. -1 with the reason. */
[[nodiscard]] int program_cache_directory(int *ret_fd, struct err *e);

/* ---- keeper ---- */

/* Descriptors that it needs. */
enum { CACHE_FDS = 2 * CACHE_STAGES };
void program_cache_fds(const struct program_cache *c, int fds[CACHE_FDS]);
/* False when nothing was kept of this stage, or nothing that is whole. */
bool program_cache_take(struct program_cache *c, enum stage kind, struct program_file *ret);
/* Of a stage that ended well. */
void program_cache_keep(struct program_cache *c, enum stage kind, const struct stage_result *how,
                        const struct buf *made);
