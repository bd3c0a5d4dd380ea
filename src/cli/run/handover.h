/* cli/run/handover.h — the two halves of `belljar run`: a keeper without privileges that meets what the program made, and main
 * that saves with the caller's rights. Between them goes one bundle of files, and an exit status.
 * Runs in: main. Invariant: the paths are the caller's own; names in the bundle are only compared. */
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

/* Forks the keeper, and returns in both. The keeper has no terminal to read. */
[[nodiscard]] int handover_fork(struct handover *ret, struct err *e);

/* Waits for the keeper, passing on what is typed and the signals that we get on its behalf, and saves what it hands over, in
 * the cache too, if there is one. Its exit status, or -1; in either case it is gone. */
[[nodiscard]] int handover_finish(struct handover *h, const struct run_arguments *o,
                                  struct terminal *terminal, struct program_cache *cache,
                                  struct err *e);
