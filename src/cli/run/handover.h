/* cli/run/handover.h — the two halves of `belljar run`. The keeper has no privileges and reads the
 * output of the program. main has the rights of the caller and saves files. The keeper hands over
 * one bundle of files and an exit status. Runs in: main.
 *
 * Invariants
 * HANDOVER-1 Files are saved under paths of the caller. Names in the bundle are only compared. */
#pragma once

#include <sys/types.h>

#include "base/err.h"
#include "cli/run/inputs.h"
#include "cli/run/program_cache.h"
#include "cli/run/run_arguments.h"

struct handover {
    pid_t keeper; /* 0 in the keeper itself */
    int fd;       /* main reads the bundle from it, the keeper writes it */
};

/* Forks the keeper, and returns in both processes. The keeper has no terminal to read. */
[[nodiscard]] int handover_fork(struct handover *ret, struct err *e);

/* Waits for the end of the keeper, and meanwhile passes typed input and signals on to it. Saves the
 * output files, and compiled programs in the cache unless it is NULL. Returns the exit status of
 * the keeper, or -1. The keeper is gone in either case. */
[[nodiscard]] int handover_finish(struct handover *h, const struct run_arguments *o,
                                  struct terminal *terminal, struct program_cache *cache,
                                  struct err *e);
